package io.eventbus.server.memory;

import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * List of callbacks that wait for room somewhere. Any thread may wait or wake; bounded by the
 * number of connections, because each is listed once, however often it asks.
 */
public final class WakeupList {
  /** Callbacks in the order in which they came. */
  private static final class Line {
    final Queue<Runnable> order = new ConcurrentLinkedQueue<>();
    final Set<Runnable> members = ConcurrentHashMap.newKeySet();
  }

  // Created for the first callback: most connections never make anybody wait.
  private volatile @Nullable Line waiting;

  /** Creates an empty list. */
  public WakeupList() {}

  /**
   * Adds a callback. The caller checks its condition once more afterwards, and wakes if it no
   * longer holds, so that no wake-up is lost.
   *
   * @param retry called once, on the thread that wakes
   */
  public void add(Runnable retry) {
    Line line = waiting;
    if (line == null) {
      line = begin();
    }
    if (line.members.add(retry)) {
      line.order.add(retry);
    }
  }

  private synchronized Line begin() {
    Line line = waiting;
    if (line == null) {
      line = new Line();
      waiting = line;
    }
    return line;
  }

  /**
   * Calls everybody who waits, once. Those who have to wait again come back later and are not
   * called twice.
   */
  public void wake() {
    Line line = waiting;
    if (line == null) {
      return;
    }
    wake(line.order.size());
  }

  /** Calls the first of those who wait, at most so many, each once, as {@link #wake()} does. */
  void wake(long max) {
    Line line = waiting;
    if (line == null) {
      return;
    }
    for (long n = max; n > 0; n--) {
      Runnable retry = line.order.poll();
      if (retry == null) {
        return;
      }
      // First, so that it can come back while it runs.
      line.members.remove(retry);
      retry.run();
    }
  }

  /** Returns whether nobody waits. */
  public boolean isEmpty() {
    Line line = waiting;
    return line == null || line.order.isEmpty();
  }
}
