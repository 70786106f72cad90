package io.eventbus.server.queue;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Budget of stalls by the subscribers of one owner under BLOCK: so much in a minute. Any thread may
 * charge it; one thread at a time checks whether it is used up.
 */
final class BlockBudget {
  private static final double MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final long capacity;
  private final AtomicLong charged = new AtomicLong();
  private long left;
  private long lookedAt;
  private boolean usedUp;

  /** Creates an unused budget. */
  BlockBudget(Duration capacity, long nowNanos) {
    this.capacity = capacity.toNanos();
    this.left = this.capacity;
    this.lookedAt = nowNanos;
  }

  /**
   * Charges a stall. Of all stalls between two checks the longest counts: together they lasted no
   * longer.
   */
  void charge(long nanos) {
    charged.accumulateAndGet(nanos, Math::max);
  }

  /**
   * Returns whether it is used up. Unused time comes back within a minute, but not while it is
   * used: a single stall lasts no longer than the budget. A used-up budget stays so until all has
   * come back, or connections that reconnect again and again would stall for as long as they are
   * not checked.
   */
  boolean isUsedUp(long nowNanos) {
    if (capacity == 0) {
      return false;
    }
    long passed = nowNanos - lookedAt;
    lookedAt = nowNanos;
    long used = charged.getAndSet(0);
    double back = capacity * (Math.max(0, passed - used) / MINUTE_NANOS);
    left = Math.min(capacity, left + (long) back) - used;
    usedUp = left <= 0 || (usedUp && left < capacity);
    return usedUp;
  }
}
