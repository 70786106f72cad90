package io.eventbus.client.internal.connection;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Limit on how often a client moves: buses limit it, too, but a client must not be at the mercy of
 * buses that disagree. Confined to the conductor.
 */
final class MoveLimit {
  static final int MAX_PER_MINUTE = 8;

  private static final long MINUTE = Duration.ofMinutes(1).toNanos();

  private final Deque<Long> begun = new ArrayDeque<>(MAX_PER_MINUTE);

  /** Returns whether one more move is allowed, and counts it if so. */
  boolean tryAcquire(long nowNanos) {
    while (!begun.isEmpty() && nowNanos - begun.getFirst() >= MINUTE) {
      begun.removeFirst();
    }
    if (begun.size() >= MAX_PER_MINUTE) {
      return false;
    }
    begun.addLast(nowNanos);
    return true;
  }
}
