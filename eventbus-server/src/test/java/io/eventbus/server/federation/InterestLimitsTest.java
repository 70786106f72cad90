package io.eventbus.server.federation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class InterestLimitsTest {
  private final InterestLimits limits = new InterestLimits(1000);

  private String problem(int all, int own, boolean addressFull) {
    return String.valueOf(limits.problem(all, own, addressFull));
  }

  @Test
  void limitsAConnectionToAnEighth() {
    assertThat(problem(124, 124, false)).isEqualTo("null");
    assertThat(problem(125, 125, false))
        .contains("the connection has 125 ", "at most 125 together", "federation.filters");
  }

  @Test
  void limitsAnAddressToItsShareOnceHalfIsUsed() {
    assertThat(problem(499, 60, true)).isEqualTo("null");
    assertThat(problem(500, 60, true)).contains("address", "limits.address-memory-percent");
    assertThat(problem(500, 60, false)).isEqualTo("null");
  }

  @Test
  void theLastQuarterIsForConnectionsThatHaveLittle() {
    assertThat(problem(749, 64, false)).isEqualTo("null");
    assertThat(problem(750, 64, false)).contains("less than 64 ", "three quarters of 1000");
    assertThat(problem(999, 63, false)).isEqualTo("null");
    assertThat(problem(1000, 0, false)).contains("1000", "federation.filters");
  }

  @Test
  void everyConnectionMayBringAFewWhereAllIsLittle() {
    InterestLimits few = new InterestLimits(100);
    assertThat(few.problem(63, 63, false)).isNull();
    assertThat(few.problem(64, 64, false)).contains("at most 64 together");
  }
}
