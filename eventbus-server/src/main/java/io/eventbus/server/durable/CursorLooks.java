package io.eventbus.server.durable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
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

  private record Look(Object address, Runnable task, long due) {}

  private final ReadTurns reads;
  private final Pauses timer;
  private final LongSupplier nanoTime;
  // Each waits for the same time, so the first is the first that is due.
  private final Queue<Look> waiting = new ArrayDeque<>(0);
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
   * Runs a look once, later, on a thread that may wait for the disk; not if the bus has ended.
   *
   * @param address object that the clients sharing a turn have in common
   */
  void later(Object address, Runnable look) {
    long due = nanoTime.getAsLong() + TimeUnit.MILLISECONDS.toNanos(WAIT_MILLIS);
    synchronized (this) {
      waiting.add(new Look(address, look, due));
      if (ticking) {
        return;
      }
      ticking = true;
    }
    timer.run(this::tick, TICK_MILLIS);
  }

  private void tick() {
    List<Look> due = new ArrayList<>();
    boolean more;
    synchronized (this) {
      long now = nanoTime.getAsLong();
      while (due.size() < MAX_LOOKS && !waiting.isEmpty() && waiting.element().due - now <= 0) {
        due.add(waiting.remove());
      }
      more = !waiting.isEmpty();
      ticking = more;
    }
    due.forEach(look -> reads.add(look.address, look.task));
    if (more) {
      timer.run(this::tick, TICK_MILLIS);
    }
  }
}
