package io.eventbus.server.transport;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.ObjLongConsumer;

/**
 * Queue of messages that may take long to inflate, which cannot be interrupted: one is inflated at
 * a time, and after each the loop does other work for twice as long. Confined to one loop.
 */
final class InflateQueue {
  /** Ratio of time for other work to time of inflating. */
  private static final int FOR_OTHERS = 2;

  private final ObjLongConsumer<Runnable> timer;
  private final Set<Runnable> waiting = new LinkedHashSet<>();
  // When the next may begin, after the first.
  private long from;
  private boolean hasBegun;
  private boolean isTimerSet;

  /**
   * Creates an empty queue.
   *
   * @param timer calls a task when so many nanoseconds have passed
   */
  InflateQueue(ObjLongConsumer<Runnable> timer) {
    this.timer = timer;
  }

  /**
   * Asks whether a message may be inflated now; if not, it is queued.
   *
   * @return true if it may: then {@link #took} has to be called
   */
  boolean mayBegin(Runnable retry, long nowNanos) {
    boolean isFirst = waiting.isEmpty() || waiting.iterator().next() == retry;
    if (isFirst && (!hasBegun || nowNanos - from >= 0)) {
      waiting.remove(retry);
      return true;
    }
    waiting.add(retry);
    wakeLater(nowNanos);
    return false;
  }

  /** Notes the time that a message took, inflated or not after all. */
  void took(long nanos, long nowNanos) {
    hasBegun = true;
    from = nowNanos + FOR_OTHERS * nanos;
    wakeLater(nowNanos);
  }

  /** Removes a message from the queue, perhaps because its connection has ended. */
  void leave(Runnable retry, long nowNanos) {
    if (waiting.remove(retry)) {
      wakeLater(nowNanos);
    }
  }

  private void wakeLater(long nowNanos) {
    if (!waiting.isEmpty() && !isTimerSet) {
      isTimerSet = true;
      timer.accept(this::wake, Math.max(0, from - nowNanos));
    }
  }

  private void wake() {
    isTimerSet = false;
    if (!waiting.isEmpty()) {
      waiting.iterator().next().run();
    }
  }
}
