package io.eventbus.link;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Lines of the log that strangers can cause: one in ten seconds, with a count. Any thread. */
final class RareLines {
  private static final long NANOS_BETWEEN = TimeUnit.SECONDS.toNanos(10);

  private final AtomicLong nextAt;
  private final AtomicLong leftOut = new AtomicLong();

  RareLines(long nowNanos) {
    nextAt = new AtomicLong(nowNanos);
  }

  /**
   * Asks whether a line is to be written.
   *
   * @return how many were left out since the last one, or -1 if this one is left out as well
   */
  long admit(long nowNanos) {
    long next = nextAt.get();
    if (nowNanos - next < 0 || !nextAt.compareAndSet(next, nowNanos + NANOS_BETWEEN)) {
      leftOut.incrementAndGet();
      return -1;
    }
    return leftOut.getAndSet(0);
  }
}
