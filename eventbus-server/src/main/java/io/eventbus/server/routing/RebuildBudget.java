package io.eventbus.server.routing;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * How much of the loops' time goes into making routes again because subscriptions have changed. A
 * route takes as long as there are subscriptions in it, for each topic and each change; without a
 * bound, one client that comes and goes could keep a bus busy whose topics have many subscribers.
 *
 * <p>When the budget is used up, changes that concern long routes wait until it has come back, and
 * then all of them go on within a moment, so that they cost about as much as one. Any thread.
 */
final class RebuildBudget {
  /** A route of more subscriptions is long; shorter ones are made as fast as events delivered. */
  static final int SHORT = 256;

  /**
   * Subscriptions that may be put into routes in a second: a tenth of a processor's time, or less.
   */
  private static final long RATE = 150_000;

  /** What may be saved up. */
  private static final long MAX = RATE / 4;

  /** However much was spent, nothing waits for more than this time. */
  private static final long MAX_SECONDS = 3;

  /** For how long changes that have waited go on, whatever they spend. */
  private static final long OPEN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final LongAdder waits = new LongAdder();
  private volatile long left = MAX;
  // Guarded by this: when it was last refilled, and until when it is open, where those are known.
  private long refilledNanos;
  private long openUntil;
  private boolean isWaitedFor;
  // Since when a change waits, where it is spent.
  private long waitedForSince;

  /** A route of so many subscriptions was made again. */
  void spend(int subscriptions) {
    if (subscriptions > SHORT) {
      synchronized (this) {
        left = Math.max(left - subscriptions, -MAX_SECONDS * RATE);
      }
    }
  }

  /** Whether changes may have to wait; cheap. */
  boolean isSpent() {
    return left <= 0;
  }

  /**
   * Asks whether a change has to wait.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return for how many nanoseconds, 0 if it may go on
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
      left = Math.min(MAX, left + more);
    }
    // What ends with its connection spends as well and does not wait: it must not keep others
    // waiting.
    long longest = waitedForSince + TimeUnit.SECONDS.toNanos(MAX_SECONDS) - nowNanos;
    if (!isSpent() || longest <= 0) {
      openUntil = nowNanos + OPEN_NANOS;
      waitedForSince = openUntil;
      isWaitedFor = left < MAX;
      return 0;
    }
    waits.increment();
    return Math.min(longest, (1 - left) * TimeUnit.SECONDS.toNanos(1) / RATE);
  }

  /** How often changes had to wait. */
  long waits() {
    return waits.sum();
  }
}
