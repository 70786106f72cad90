package io.eventbus.client.internal.base;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executor that runs tasks one after the other on another executor that may run them in parallel,
 * and drops tasks beyond its bound. Any thread may add.
 */
final class SerialExecutor {
  private static final Logger LOG = LoggerFactory.getLogger(SerialExecutor.class);

  private final Executor executor;
  private final int maxWaiting;
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private boolean running;

  SerialExecutor(Executor executor, int maxWaiting) {
    this.executor = executor;
    this.maxWaiting = maxWaiting;
  }

  /** Adds a task unless too many wait; returns false if it was dropped. */
  boolean offer(Runnable task) {
    synchronized (tasks) {
      if (tasks.size() >= maxWaiting) {
        return false;
      }
      tasks.add(task);
      if (running) {
        return true;
      }
      running = true;
    }
    start();
    return true;
  }

  private void start() {
    try {
      executor.execute(this::drain);
    } catch (RuntimeException e) {
      // Mostly because the application has shut it down. An accepted task must run all the same.
      LOG.debug("the executor refuses tasks: using a thread of our own", e);
      Thread last = new Thread(this::drain, "eventbus-last-tasks");
      last.setDaemon(true);
      last.start();
    } catch (Error e) {
      // No memory for a thread, for instance: the next call tries again.
      synchronized (tasks) {
        running = false;
      }
      throw e;
    }
  }

  private void drain() {
    while (true) {
      Runnable task;
      synchronized (tasks) {
        task = tasks.poll();
        if (task == null) {
          running = false;
          return;
        }
      }
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        LOG.warn("the connection listener failed", e);
      }
    }
  }
}
