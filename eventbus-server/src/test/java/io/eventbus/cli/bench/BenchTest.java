package io.eventbus.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BenchTest {
  @Test
  void eventsAreDueEvenly() {
    assertThat(Bench.due(0, 3)).isZero();
    assertThat(Bench.due(1, 3)).isEqualTo(333_333_333);
    assertThat(Bench.due(3, 3)).isEqualTo(1_000_000_000);
    // An hour of ten million a second.
    assertThat(Bench.due(36_000_000_000L, 10_000_000)).isEqualTo(3_600_000_000_000L);
  }

  @Test
  void aPlanHasRoomForWhatIsUsual() {
    assertThat(BenchPlan.usualInFlight(128)).isEqualTo(1_000);
    assertThat(BenchPlan.usualInFlight(1 << 20)).isEqualTo(16);
  }
}
