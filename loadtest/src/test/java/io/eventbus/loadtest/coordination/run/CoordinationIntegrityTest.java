package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CoordinationIntegrityTest {
  @Test
  void everyWriteOnceIsWhole() {
    assertThat(CoordinationIntegrity.of(10, 10, 10, 0))
        .isEqualTo(new CoordinationIntegrity(10, 0, 0, 0));
  }

  @Test
  void anOlderNumberMeansLost() {
    assertThat(CoordinationIntegrity.of(10, 8, 8, 0))
        .isEqualTo(new CoordinationIntegrity(10, 2, 0, 0));
  }

  @Test
  void fewerWritesThanAcknowledgedMeansLost() {
    assertThat(CoordinationIntegrity.of(10, 10, 9, 0).lost()).isEqualTo(1);
  }

  @Test
  void moreWritesThanAskedForMeansDoubled() {
    assertThat(CoordinationIntegrity.of(10, 10, 12, 0).doubled()).isEqualTo(2);
  }

  @Test
  void oneWithoutAnAnswerMayBeThereOrNot() {
    assertThat(CoordinationIntegrity.of(10, 11, 11, 1))
        .isEqualTo(new CoordinationIntegrity(10, 0, 0, 0));
    assertThat(CoordinationIntegrity.of(10, 10, 10, 1))
        .isEqualTo(new CoordinationIntegrity(10, 0, 0, 0));
    assertThat(CoordinationIntegrity.of(10, 11, 12, 1).doubled()).isEqualTo(1);
  }

  @Test
  void whatIsAbsentIsLost() {
    assertThat(CoordinationIntegrity.absent(10)).isEqualTo(new CoordinationIntegrity(10, 10, 0, 0));
    assertThat(CoordinationIntegrity.absent(0).whole()).isFalse();
  }

  @Test
  void whatWasWrongStaysWrong() {
    assertThat(new CoordinationIntegrity(9, 0, 0, 0).after(new CoordinationIntegrity(5, 1, 2, 3)))
        .isEqualTo(new CoordinationIntegrity(9, 1, 2, 3));
  }

  @Test
  void sumsUp() {
    assertThat(
            new CoordinationIntegrity(1, 2, 3, 4).plus(new CoordinationIntegrity(10, 20, 30, 40)))
        .isEqualTo(new CoordinationIntegrity(11, 22, 33, 44));
  }
}
