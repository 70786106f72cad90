package io.eventbus.server.quota;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Rate that several event loops share, exact and without a lock. Any thread.
 *
 * <p>It is a token bucket of one second's worth, kept as the one number that says when it will be
 * full again: the generic cell rate algorithm (ITU-T I.371). It may be overdrawn: as long as there
 * is anything in it an amount of any size passes, so that nothing is too large, and the next one
 * waits until that is paid. That time is bounded, because a connection that is not read answers no
 * heartbeat: what would cost more than ten seconds costs ten.
 */
final class TokenBucket {
  static final long FULL_NANOS = TimeUnit.SECONDS.toNanos(1);
  static final long MAX_DEBT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final AtomicLong fullAt;
  private volatile long perSecond;

  /** Creates a full bucket without a limit. */
  TokenBucket(long nowNanos) {
    fullAt = new AtomicLong(nowNanos);
  }

  /** Sets the rate; 0 for no limit. */
  void limit(long rate) {
    perSecond = rate;
  }

  /** Returns how long it is empty; 0 if something may be taken. */
  long waitNanos(long nowNanos) {
    // More than a full one: something is in it, and a rate of 1 lets one event pass at once.
    long debt = fullAt.get() - nowNanos - FULL_NANOS;
    return perSecond == 0 || debt < 0 ? 0 : debt + 1;
  }

  /** Takes an amount, also more than there is. */
  void take(long amount, long nowNanos) {
    long rate = perSecond;
    if (rate == 0) {
      return;
    }
    // Rounded up, so that no number of small things is free.
    long cost = (Math.min(amount, Long.MAX_VALUE / SECOND / 2) * SECOND + rate - 1) / rate;
    while (true) {
      long before = fullAt.get();
      long from = before - nowNanos > 0 ? before : nowNanos;
      long max = nowNanos + FULL_NANOS + MAX_DEBT_NANOS;
      long after = from + Math.min(cost, Math.max(0, max - from));
      if (fullAt.compareAndSet(before, after)) {
        return;
      }
    }
  }

  boolean isFull(long nowNanos) {
    return fullAt.get() - nowNanos <= 0;
  }
}
