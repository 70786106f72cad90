package io.eventbus.client.internal;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How often a client lets itself be sent on: buses bound it, too, but a client must not be at the
 * mercy of buses that disagree. Confined to the conductor.
 */
final class MoveLimit {
  static final int MAX_IN_A_MINUTE = 8;

  private static final long MINUTE = Duration.ofMinutes(1).toNanos();

  private final Deque<Long> begun = new ArrayDeque<>(MAX_IN_A_MINUTE);

  /** Says whether one more is allowed, and counts it if it is. */
  boolean take(long nowNanos) {
    while (!begun.isEmpty() && nowNanos - begun.getFirst() >= MINUTE) {
      begun.removeFirst();
    }
    if (begun.size() >= MAX_IN_A_MINUTE) {
      return false;
    }
    begun.addLast(nowNanos);
    return true;
  }
}
