package io.eventbus.base;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Rate that several event loops share, exact and without a lock. Any thread.
 *
 * <p>It is a token bucket, usually of one second's worth, kept as the one number that says when it
 * will be full again: the generic cell rate algorithm (ITU-T I.371). It may be overdrawn: as long
 * as there is anything in it an amount of any size passes, so that nothing is too large, and the
 * next one waits until that is paid. That time is bounded, because a connection that is not read
 * answers no heartbeat: what would cost more than ten seconds costs ten.
 */
public final class TokenBucket {
  private static final long MAX_DEBT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** Time in which an empty one is full again. */
  private final long fullNanos;

  private final AtomicLong fullAt;
  private volatile long perSecond;

  /**
   * Creates a full bucket of one second's worth, without a limit.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public TokenBucket(long nowNanos) {
    this(SECOND, nowNanos);
  }

  private TokenBucket(long fullNanos, long nowNanos) {
    this.fullNanos = fullNanos;
    this.fullAt = new AtomicLong(nowNanos);
  }

  /**
   * Returns a full bucket of which so many may be taken at once, one by one.
   *
   * @param perSecond the rate; 0 for no limit
   * @param burst at least 1
   * @param nowNanos as {@link System#nanoTime}
   */
  public static TokenBucket ofBurst(long perSecond, long burst, long nowNanos) {
    // As long as anything is in it one may be taken: so the last of the burst needs no room.
    long fullNanos = perSecond == 0 ? SECOND : (burst - 1) * cost(1, perSecond) + 1;
    TokenBucket bucket = new TokenBucket(fullNanos, nowNanos);
    bucket.limit(perSecond);
    return bucket;
  }

  /** Sets the rate; 0 for no limit. */
  public void limit(long rate) {
    perSecond = rate;
  }

  /** Returns how long it is empty, in nanoseconds; 0 if something may be taken. */
  public long waitNanos(long nowNanos) {
    // More than a full one: something is in it, and a rate of 1 lets one event pass at once.
    long debt = fullAt.get() - nowNanos - fullNanos;
    return perSecond == 0 || debt < 0 ? 0 : debt + 1;
  }

  /** Takes an amount, also more than there is. */
  public void take(long amount, long nowNanos) {
    long rate = perSecond;
    if (rate == 0) {
      return;
    }
    long cost = cost(amount, rate);
    while (true) {
      long before = fullAt.get();
      long from = before - nowNanos > 0 ? before : nowNanos;
      long max = nowNanos + fullNanos + MAX_DEBT_NANOS;
      long after = from + Math.min(cost, Math.max(0, max - from));
      if (fullAt.compareAndSet(before, after)) {
        return;
      }
    }
  }

  /**
   * Returns the time that an amount costs: rounded up, so that no number of small things is free.
   */
  private static long cost(long amount, long rate) {
    return (Math.min(amount, Long.MAX_VALUE / SECOND / 2) * SECOND + rate - 1) / rate;
  }

  /** Returns whether it is as if nothing had ever been taken. */
  public boolean isFull(long nowNanos) {
    return fullAt.get() - nowNanos <= 0;
  }
}
