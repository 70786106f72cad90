package io.eventbus.client.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limit on the number of moves. */
class MoveLimitTest {
  private static final long MINUTE = Duration.ofMinutes(1).toNanos();

  private final MoveLimit limit = new MoveLimit();

  // A clock of nanoseconds may begin anywhere, and wraps.
  @ParameterizedTest
  @ValueSource(longs = {0, 1_000_000_000_000L, Long.MAX_VALUE - 4})
  void permitsEightMovesInAMinuteButNotNine(long start) {
    for (int i = 0; i < MoveLimit.MAX_PER_MINUTE; i++) {
      assertThat(limit.tryAcquire(start + i)).as("hop %s", i + 1).isTrue();
    }
    assertThat(limit.tryAcquire(start + MINUTE - 1)).isFalse();
    // A refused move does not count.
    assertThat(limit.tryAcquire(start + MINUTE)).isTrue();
    assertThat(limit.tryAcquire(start + MINUTE)).isFalse();
    assertThat(limit.tryAcquire(start + MINUTE + 1)).isTrue();
  }
}
