package io.eventbus.server.call;

/**
 * Event loop as calls need it. Confined to the loop; an implementation must not block and must not
 * throw.
 */
public interface LoopPort {
  /** Returns whether the current thread is the loop's. */
  boolean isCurrent();

  /** Returns the time as {@link System#nanoTime}, by the same clock for all loops. */
  long nanoTime();

  /**
   * Schedules a task after a delay: in a later round of reads, however short the delay is. There is
   * at most one task at a time for deadlines and one for work in slices, and none while no call is
   * open.
   *
   * @param nanos delay in nanoseconds
   */
  void later(Runnable task, long nanos);

  /** Requests {@link LoopCalls#flush} at the end of this round of reads. */
  void flushSoon();
}
