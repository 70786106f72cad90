package io.eventbus.server.routing;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How much of the loops' time goes into making routes again because subscriptions have changed. A
 * route takes as long as there are subscriptions in it, for each topic and each change; without a
 * bound, one client that comes and goes could keep a bus busy whose topics have many subscribers.
 *
 * <p>When the budget is used up, changes that may concern many routes wait. All of them go on
 * together, so that they cost about as much as one. Any thread.
 */
final class RebuildBudget {
  /**
   * Subscriptions that may be put into routes in a second: a tenth of a processor's time, or less.
   */
  private static final long RATE = 150_000;

  /** What may be saved up. */
  private static final long MOST = RATE / 4;

  /** Shorter routes are made as fast as their events are delivered. */
  private static final int SHORT = 256;

  private final AtomicLong left = new AtomicLong(MOST);
  private final AtomicLong refilledAt = new AtomicLong();
  private final Waiters waiters = new Waiters();

  /** A route of so many subscriptions was made again. */
  void spend(int subscriptions) {
    if (subscriptions > SHORT) {
      left.addAndGet(-subscriptions);
    }
  }

  /** Whether changes have to wait. */
  boolean isSpent() {
    return left.get() <= 0;
  }

  /**
   * Asks for a call when changes may go on.
   *
   * @param retry called once, by any thread; must not block
   */
  void whenLeft(Runnable retry) {
    waiters.add(retry);
  }

  /** Lets those who wait go on if it is time; to be called several times a second. */
  void onTick(long nowNanos) {
    long before = refilledAt.get();
    // Less would be nothing, by rounding, and as often as the loops come by.
    long micros = Math.min((nowNanos - before) / 1_000, 1_000_000);
    if (micros >= 1_000 && refilledAt.compareAndSet(before, nowNanos)) {
      long more = micros * RATE / 1_000_000;
      left.updateAndGet(now -> Math.min(MOST, now + more));
    }
    if (!isSpent()) {
      waiters.wake();
    }
  }
}
