package io.eventbus.server.durable;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Looks at cursors that this bus waits for. One timer lets a bounded number of them begin at a
 * time, those that have waited longest first. Any thread.
 */
final class CursorLooks {
  /** Minimum time before a look. */
  static final long WAIT_MILLIS = 500;

  /** Time between two calls of the timer. */
  static final long TICK_MILLIS = 100;

  /** Maximum number of looks that begin with a call of the timer. */
  static final int MAX_LOOKS = 64;

  private record Look(Object address, long due) {}

  private final ReadTurns reads;
  private final Pauses timer;
  private final LongSupplier nanoTime;
  // Each waits for the same time, so the first is the first that is due.
  private final Map<Runnable, Look> waiting = new LinkedHashMap<>();
  private boolean ticking;

  /**
   * Creates looks.
   *
   * @param reads runs those that are due
   * @param timer runs the timer
   */
  CursorLooks(ReadTurns reads, Pauses timer, LongSupplier nanoTime) {
    this.reads = reads;
    this.timer = timer;
    this.nanoTime = nanoTime;
  }

  /**
   * Runs a look once, later, on a thread that may wait for the disk; not if the bus has ended. One
   * that waits already goes on to wait.
   *
   * @param address object that the clients sharing a turn have in common
   */
  void later(Object address, Runnable look) {
    long due = nanoTime.getAsLong() + TimeUnit.MILLISECONDS.toNanos(WAIT_MILLIS);
    synchronized (this) {
      var unused = waiting.putIfAbsent(look, new Look(address, due));
      if (ticking) {
        return;
      }
      ticking = true;
    }
    timer.run(this::tick, TICK_MILLIS);
  }

  /** Removes a look that waits, if it does. */
  synchronized void remove(Runnable look) {
    waiting.remove(look);
  }

  /** Returns the number of looks that wait. */
  synchronized int waiting() {
    return waiting.size();
  }

  private void tick() {
    Map<Runnable, Look> due = new LinkedHashMap<>();
    boolean more;
    synchronized (this) {
      long now = nanoTime.getAsLong();
      Iterator<Map.Entry<Runnable, Look>> first = waiting.entrySet().iterator();
      while (due.size() < MAX_LOOKS && first.hasNext()) {
        Map.Entry<Runnable, Look> next = first.next();
        if (next.getValue().due - now > 0) {
          break;
        }
        due.put(next.getKey(), next.getValue());
        first.remove();
      }
      more = !waiting.isEmpty();
      ticking = more;
    }
    due.forEach((task, look) -> reads.add(look.address, task));
    if (more) {
      timer.run(this::tick, TICK_MILLIS);
    }
  }
}
