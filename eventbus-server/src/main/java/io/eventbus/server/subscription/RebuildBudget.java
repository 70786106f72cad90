package io.eventbus.server.subscription;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Budget of the loops' time for rebuilding routes because subscriptions have changed. A route takes
 * as long as it has subscriptions, for each topic and each change; without a bound, one client that
 * comes and goes could keep a bus busy whose topics have many subscribers.
 *
 * <p>When the budget is used up, changes that concern long routes wait until it has come back, and
 * then all of them go on within a moment, so that they cost about as much as one. Any thread.
 */
final class RebuildBudget {
  /** Size up to which a route is short: it is built as fast as events are delivered. */
  static final int MAX_SHORT = 256;

  /**
   * Subscriptions that may be put into routes in a second: a tenth of a processor's time, or less.
   */
  private static final long RATE = 150_000;

  /** Maximum that may be saved up. */
  private static final long MAX_SAVED = RATE / 4;

  /** Maximum wait in seconds, however much was spent. */
  private static final long MAX_SECONDS = 3;

  /** Time for which changes that have waited go on, whatever they spend. */
  private static final long OPEN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final LongAdder waits = new LongAdder();
  private volatile long left = MAX_SAVED;
  // Guarded by this: when it was last refilled, and until when it is open, where those are known.
  private long refilledNanos;
  private long openUntil;
  private boolean isWaitedFor;
  // Since when a change waits, where it is spent.
  private long waitedForSince;

  /** Spends the budget for a rebuilt route of so many subscriptions. */
  void spend(int subscriptions) {
    if (subscriptions > MAX_SHORT) {
      synchronized (this) {
        left = Math.max(left - subscriptions, -MAX_SECONDS * RATE);
      }
    }
  }

  /** Returns whether changes may have to wait; cheap. */
  boolean isSpent() {
    return left <= 0;
  }

  /**
   * Returns for how many nanoseconds a change has to wait, 0 if it may go on.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  synchronized long waitNanos(long nowNanos) {
    if (!isWaitedFor) {
      if (!isSpent()) {
        return 0;
      }
      // Nobody has asked since it was used up: the time begins.
      isWaitedFor = true;
      refilledNanos = nowNanos;
      openUntil = nowNanos;
      waitedForSince = nowNanos;
    }
    if (openUntil - nowNanos > 0) {
      return 0;
    }
    // More than it takes from the bottom to the top would change nothing.
    long passed = Math.min(nowNanos - refilledNanos, TimeUnit.SECONDS.toNanos(2 * MAX_SECONDS));
    long more = passed * RATE / TimeUnit.SECONDS.toNanos(1);
    if (more > 0) {
      refilledNanos = nowNanos;
      left = Math.min(MAX_SAVED, left + more);
    }
    // Changes that end with their connection spend as well but do not wait: they must not keep
    // others waiting.
    long maxWait = waitedForSince + TimeUnit.SECONDS.toNanos(MAX_SECONDS) - nowNanos;
    if (!isSpent() || maxWait <= 0) {
      openUntil = nowNanos + OPEN_NANOS;
      waitedForSince = openUntil;
      isWaitedFor = left < MAX_SAVED;
      return 0;
    }
    waits.increment();
    return Math.min(maxWait, (1 - left) * TimeUnit.SECONDS.toNanos(1) / RATE);
  }

  /** Returns how often changes had to wait. */
  long waits() {
    return waits.sum();
  }
}
