package io.eventbus.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private static final long MILLI = 1_000_000;
  // The clock overflows a little later, as the JVM's may.
  private static final long START = Long.parseLong("9223372036854775802");

  /** Returns a generator of the same number between 0 and 1. */
  private static RandomGenerator always(double number) {
    return () -> (long) (number * (1L << 53)) << 11;
  }

  @Test
  void pausesDoubleUpToTheMaximum() {
    Backoff backoff = new Backoff(Duration.ofMillis(25), Duration.ofMillis(90), 1);
    long[] pauses = new long[4];
    for (int i = 0; i < pauses.length; i++) {
      pauses[i] = backoff.nextNanos(always(0.5)) / MILLI;
    }
    assertThat(pauses).containsExactly(25, 50, 90, 90);
  }

  @Test
  void jitterIsAroundOrBelowThePause() {
    Duration pause = Duration.ofMillis(100);
    assertThat(new Backoff(pause, pause, 1).nextNanos(always(0))).isEqualTo(50 * MILLI);
    assertThat(new Backoff(pause, pause, 1).nextNanos(always(0.75))).isEqualTo(125 * MILLI);
    assertThat(new Backoff(pause, pause, 0.5).nextNanos(always(0))).isEqualTo(50 * MILLI);
    assertThat(new Backoff(pause, pause, 0.5).nextNanos(always(0.75))).isEqualTo(87_500_000);
  }

  @Test
  void anAttemptIsDueAfterThePauseOfTheFailureBefore() {
    Backoff backoff = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(2), 0.5);
    assertThat(backoff.isDue(START)).isTrue();
    backoff.failed(START, always(0.5));
    backoff.failed(START, always(0.5));
    assertThat(backoff.isDue(START + 75 * MILLI - 1)).isFalse();
    assertThat(backoff.isDue(START + 75 * MILLI)).isTrue();
    backoff.succeeded();
    assertThat(backoff.isDue(START)).isTrue();
    backoff.failed(START, always(0.5));
    assertThat(backoff.isDue(START + 37_500_000)).isTrue();
  }
}
