package io.eventbus.server.call;

/**
 * What calls need of the event loop that runs them. Confined to the loop; an implementation must
 * not block and must not throw.
 */
public interface LoopPort {
  /** Says whether the current thread is the loop's. */
  boolean isCurrent();

  /**
   * Returns the time.
   *
   * @return as {@link System#nanoTime}, the same clock for all loops
   */
  long nanoTime();

  /**
   * Asks for a call in some time: in a later round of reads, however short that is. There is at
   * most one at a time for deadlines and one for what is done in slices, and none while no call is
   * open.
   *
   * @param nanos how long from now
   */
  void later(Runnable task, long nanos);

  /** Asks for {@link LoopCalls#flush} at the end of this round of reads. */
  void flushSoon();
}
