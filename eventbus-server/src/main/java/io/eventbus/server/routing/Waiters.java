package io.eventbus.server.routing;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Those who wait for room somewhere. Any thread may wait or wake; bounded by the number of
 * connections, because each waits in one place at a time.
 */
public final class Waiters {
  private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

  /** Makes an empty list. */
  public Waiters() {}

  /**
   * Adds somebody. The caller checks its condition once more afterwards, and wakes if it no longer
   * holds, so that no wake-up is lost.
   *
   * @param retry called once, by whoever wakes
   */
  public void add(Runnable retry) {
    waiting.add(retry);
  }

  /**
   * Calls everybody who waits, once. Those who have to wait again come back later and are not
   * called twice.
   */
  public void wake() {
    for (int n = waiting.size(); n > 0; n--) {
      Runnable retry = waiting.poll();
      if (retry == null) {
        return;
      }
      retry.run();
    }
  }

  /**
   * Says whether anybody waits.
   *
   * @return false if nobody does
   */
  public boolean isEmpty() {
    return waiting.isEmpty();
  }
}
