package io.eventbus.client.internal.call;

import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Timer that checks requests when the first of them is due. One timer for all of them, set to the
 * earliest known deadline: a request that is answered in time sets and cancels nothing, and leaves
 * nothing behind. Any thread may use it.
 */
final class CallDeadlines {
  /** Minimum time from one check to the next, however close the deadlines are. */
  private static final long MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final CallHost host;
  private final LongFunction<@Nullable Long> look;
  // State of the timer, and its time. Written under the lock.
  private volatile boolean set;
  private volatile long at;
  private Runnable cancel = () -> {};

  /**
   * Creates the timer.
   *
   * @param look is given the time and returns when to check again, or null for not at all; called
   *     on the conductor
   */
  CallDeadlines(CallHost host, LongFunction<@Nullable Long> look) {
    this.host = host;
    this.look = look;
  }

  /** Ensures a check at this time. */
  void watch(long due) {
    if (set && due - at >= 0) {
      return;
    }
    synchronized (this) {
      if (!set || due - at < 0) {
        cancel.run();
        schedule(due, host.nanoTime());
      }
    }
  }

  private void schedule(long due, long now) {
    at = due;
    set = true;
    cancel = host.schedule(() -> fire(due), Math.max(0, due - now));
  }

  private void fire(long due) {
    synchronized (this) {
      if (!set || at != due) {
        // An earlier one was set meanwhile.
        return;
      }
      // A deadline that is added from now on sets a timer of its own.
      set = false;
    }
    long now = host.nanoTime();
    Long next = look.apply(now);
    if (next != null) {
      watch(Math.max(next - now, MIN_NANOS) + now);
    }
  }
}
