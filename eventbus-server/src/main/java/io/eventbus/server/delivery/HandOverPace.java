package io.eventbus.server.delivery;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Estimate of the time that what waits for a loop will take there. A delivery costs a fraction of a
 * microsecond, or a hundred times as much when the socket is written to and others' events are
 * dropped: a bound in bytes alone would let hundreds of milliseconds wait.
 */
final class HandOverPace {
  /** Time of waiting work beyond which the source waits. */
  private static final long MAX_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final AtomicLong waitingWork = new AtomicLong();
  // Written by the destination only.
  private volatile long nanosPerWork;

  /** Counts work that is handed over; source loop only. */
  void enters(int work) {
    waitingWork.addAndGet(work);
  }

  /** Counts work that is done, or will not be. */
  void leaves(int work) {
    waitingWork.addAndGet(-work);
  }

  /** Notes the time of work: the less it was, the less it says. Destination loop only. */
  void took(int work, long nanos) {
    if (work > 0) {
      long before = nanosPerWork;
      long weight = Math.min(work, HandOverQueue.TASK_WORK);
      nanosPerWork = before + (nanos / work - before) * weight / HandOverQueue.TASK_WORK;
    }
  }

  /** Returns whether what waits will take longer than a part of the bound. */
  boolean isSlow(int part) {
    return waitingWork.get() * nanosPerWork > MAX_WAIT_NANOS / part;
  }
}
