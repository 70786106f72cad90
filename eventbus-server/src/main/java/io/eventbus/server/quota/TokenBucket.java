package io.eventbus.server.quota;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A rate that several event loops share, exact and without a lock. Any thread.
 *
 * <p>It is a token bucket of one second's worth, kept as the one number that says when it will be
 * full again: the generic cell rate algorithm (ITU-T I.371). It may be overdrawn: whoever finds
 * anything in it may take what it has, so that nothing is too large to pass, and the next one waits
 * until that is paid. How long that takes is bounded, because a connection that is not read answers
 * no heartbeat: what would cost more than ten seconds costs ten.
 */
final class TokenBucket {
  static final long FULL_NANOS = TimeUnit.SECONDS.toNanos(1);
  static final long MAX_DEBT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final AtomicLong fullAt;
  private volatile long perSecond;

  /** Makes a full one without a limit. */
  TokenBucket(long nowNanos) {
    fullAt = new AtomicLong(nowNanos);
  }

  /** Sets the rate; 0 for no limit. */
  void limit(long rate) {
    perSecond = rate;
  }

  /** How long there is nothing in it; 0 where something may be taken. */
  long waitNanos(long nowNanos) {
    // More than a full one: something is in it, and a rate of 1 lets one event pass at once.
    long debt = fullAt.get() - nowNanos - FULL_NANOS;
    return perSecond == 0 || debt < 0 ? 0 : debt + 1;
  }

  /** Takes something out of it, also more than there is. */
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
      long most = nowNanos + FULL_NANOS + MAX_DEBT_NANOS;
      long after = from + Math.min(cost, Math.max(0, most - from));
      if (fullAt.compareAndSet(before, after)) {
        return;
      }
    }
  }

  boolean isFull(long nowNanos) {
    return fullAt.get() - nowNanos <= 0;
  }
}
