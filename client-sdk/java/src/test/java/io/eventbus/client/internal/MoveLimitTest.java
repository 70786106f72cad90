package io.eventbus.client.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How often a client lets itself be sent on. */
class MoveLimitTest {
  private static final long MINUTE = Duration.ofMinutes(1).toNanos();

  private final MoveLimit bound = new MoveLimit();

  // A clock of nanoseconds may begin anywhere, and wraps.
  @ParameterizedTest
  @ValueSource(longs = {0, 1_000_000_000_000L, Long.MAX_VALUE - 4})
  void eightAreAllowedInAMinuteAndTheNinthIsNot(long start) {
    for (int i = 0; i < MoveLimit.MAX_IN_A_MINUTE; i++) {
      assertThat(bound.take(start + i)).as("hop %s", i + 1).isTrue();
    }
    assertThat(bound.take(start + MINUTE - 1)).isFalse();
    // One that was refused does not count.
    assertThat(bound.take(start + MINUTE)).isTrue();
    assertThat(bound.take(start + MINUTE)).isFalse();
    assertThat(bound.take(start + MINUTE + 1)).isTrue();
  }
}
