package io.eventbus.link;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Rate limit for lines of the log that strangers can cause: one in ten seconds, with a count. Any
 * thread.
 */
final class RareLines {
  private static final long MIN_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final AtomicLong nextAt;
  private final AtomicLong leftOut = new AtomicLong();

  RareLines(long nowNanos) {
    nextAt = new AtomicLong(nowNanos);
  }

  /**
   * Admits a line or not.
   *
   * @return how many were left out since the last one, or -1 if this one is left out as well
   */
  long admit(long nowNanos) {
    long next = nextAt.get();
    if (nowNanos - next < 0 || !nextAt.compareAndSet(next, nowNanos + MIN_INTERVAL_NANOS)) {
      leftOut.incrementAndGet();
      return -1;
    }
    return leftOut.getAndSet(0);
  }
}
