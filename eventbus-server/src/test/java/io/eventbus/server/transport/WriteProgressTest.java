package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WriteProgressTest {
  private static final long TICK = TimeUnit.MILLISECONDS.toNanos(100);

  private final WriteProgress pace = new WriteProgress(0, 0);

  @Test
  void aClientThatReadsNothingIsStuckAfterASecond() {
    for (int tick = 1; tick <= 10; tick++) {
      assertThat(pace.isStuck((tick - 1) * TICK)).isFalse();
      pace.update(0, true, tick * TICK);
    }
    assertThat(pace.isStuck(10 * TICK)).isTrue();
  }

  @Test
  void aClientWithNothingToReadIsNotStuck() {
    for (int tick = 1; tick <= 100; tick++) {
      pace.update(0, false, tick * TICK);
    }
    pace.update(0, true, 101 * TICK);
    assertThat(pace.isStuck(101 * TICK)).isFalse();
  }

  @Test
  void aClientThatReadsThePromisedRateIsNotStuck() {
    long taken = 0;
    for (int tick = 1; tick <= 100; tick++) {
      taken += 1_311;
      pace.update(taken, true, tick * TICK);
      assertThat(pace.isStuck(tick * TICK)).isFalse();
    }
    assertThat(pace.secondsFor(131_100)).isBetween(9.9, 10.1);
    for (int tick = 101; tick <= 111; tick++) {
      taken += 100;
      pace.update(taken, true, tick * TICK);
    }
    assertThat(pace.isStuck(111 * TICK)).as("a few bytes are no progress").isTrue();
  }
}
