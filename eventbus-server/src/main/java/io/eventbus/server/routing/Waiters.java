package io.eventbus.server.routing;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Those who wait for room somewhere. Any thread may wait or wake; bounded by the number of
 * connections, because each waits in one place at a time.
 */
public final class Waiters {
  // Made for the first who waits: most connections never make anybody wait.
  private volatile @Nullable Queue<Runnable> waiting;

  /** Makes an empty list. */
  public Waiters() {}

  /**
   * Adds somebody. The caller checks its condition once more afterwards, and wakes if it no longer
   * holds, so that no wake-up is lost.
   *
   * @param retry called once, by whoever wakes
   */
  public void add(Runnable retry) {
    Queue<Runnable> queue = waiting;
    (queue == null ? begin() : queue).add(retry);
  }

  private synchronized Queue<Runnable> begin() {
    Queue<Runnable> queue = waiting;
    if (queue == null) {
      queue = new ConcurrentLinkedQueue<>();
      waiting = queue;
    }
    return queue;
  }

  /**
   * Calls everybody who waits, once. Those who have to wait again come back later and are not
   * called twice.
   */
  public void wake() {
    Queue<Runnable> queue = waiting;
    if (queue == null) {
      return;
    }
    for (int n = queue.size(); n > 0; n--) {
      Runnable retry = queue.poll();
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
    Queue<Runnable> queue = waiting;
    return queue == null || queue.isEmpty();
  }
}
