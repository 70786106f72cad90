package io.eventbus.server.durable;

import io.eventbus.server.queue.FairTurns;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tasks that wait for the disk, on a bounded number of threads: one task of each client address in
 * turn, those of one address in order. So a client with thousands of readers delays those of others
 * little. Any thread.
 */
final class ReadTurns {
  private static final Logger LOG = LoggerFactory.getLogger(ReadTurns.class);

  private final Pauses threads;
  private final int max;
  private final FairTurns waiting = new FairTurns();
  private int running;

  /**
   * Creates turns.
   *
   * @param threads has at least {@code max} threads
   * @param max tasks that run at the same time
   */
  ReadTurns(Pauses threads, int max) {
    this.threads = threads;
    this.max = max;
  }

  /**
   * Runs a task when it is its turn; not if the bus has ended.
   *
   * @param address object that the clients sharing a turn have in common
   */
  void add(Object address, Runnable task) {
    synchronized (this) {
      waiting.add(address, task);
      if (running == max) {
        return;
      }
      running++;
    }
    threads.run(this::work, 0);
  }

  /** Runs a task like {@link #add}, after a time in milliseconds. */
  void later(Object address, Runnable task, long millis) {
    threads.run(() -> add(address, task), millis);
  }

  private void work() {
    boolean ended = false;
    try {
      for (Runnable next = poll(); next != null; next = poll()) {
        run(next);
      }
      ended = true;
    } finally {
      if (!ended) {
        // The others are not to wait for a thread that an error has ended.
        threads.run(this::work, 0);
      }
    }
  }

  private static void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException e) {
      LOG.error("a reader of a journal has failed", e);
    }
  }

  private synchronized @Nullable Runnable poll() {
    Runnable task = waiting.poll();
    if (task == null) {
      running--;
    }
    return task;
  }
}
