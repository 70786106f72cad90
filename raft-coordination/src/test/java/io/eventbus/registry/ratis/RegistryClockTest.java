package io.eventbus.registry.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RegistryClockTest {
  private final AtomicLong nanos = new AtomicLong();
  private final RegistryClock clock =
      new RegistryClock(Clock.fixed(Instant.ofEpochMilli(1_000), ZoneOffset.UTC), nanos::get);

  @Test
  void registryTimeGoesOnFromWhatWasAppliedAndNeverBack() {
    assertThat(clock.stamp()).isEqualTo(1_000);
    nanos.addAndGet(5_000_000);
    assertThat(clock.stamp()).isEqualTo(1_005);
    clock.applied(900);
    assertThat(clock.stamp()).isEqualTo(1_005);
    clock.applied(2_000);
    nanos.addAndGet(1_000_000);
    assertThat(clock.now()).isEqualTo(2_001);
    clock.restart(1_500);
    assertThat(clock.now()).isEqualTo(1_500);
    assertThat(clock.stamp()).isGreaterThanOrEqualTo(1_500);
  }
}
