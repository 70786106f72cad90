package io.eventbus.server.queue;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How long the subscribers of one owner under BLOCK may hold publishers back from others: so much
 * in a minute. Any thread may charge it; one thread at a time looks whether it is used up.
 */
final class BlockBudget {
  private static final double MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final long capacity;
  private final AtomicLong charged = new AtomicLong();
  private long left;
  private long lookedAt;
  private boolean usedUp;

  /** Makes a budget that is not used yet. */
  BlockBudget(Duration capacity, long nowNanos) {
    this.capacity = capacity.toNanos();
    this.left = this.capacity;
    this.lookedAt = nowNanos;
  }

  /**
   * Charges the time for which a publisher was held. Of all that were held between two looks the
   * longest counts: together they were held for no longer.
   */
  void charge(long nanos) {
    charged.accumulateAndGet(nanos, Math::max);
  }

  /**
   * Whether it is used up; what is not used comes back within a minute, but not while it is used: a
   * single hold lasts no longer than the budget. One that was used up is so until all has come
   * back, or connections that come again and again would hold for as long as they are not looked
   * at.
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
