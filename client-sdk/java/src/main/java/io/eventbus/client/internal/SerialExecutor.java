package io.eventbus.client.internal;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks one after the other on an executor that may run them in parallel. Any thread may add.
 * What cannot be refused (completing a stage) is added with {@link #execute}; what can (telling a
 * listener) with {@link #offer}, which is bounded.
 */
final class SerialExecutor implements Executor {
  private static final Logger LOG = LoggerFactory.getLogger(SerialExecutor.class);

  private final Executor executor;
  private final int mostWaiting;
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private boolean running;

  SerialExecutor(Executor executor, int mostWaiting) {
    this.executor = executor;
    this.mostWaiting = mostWaiting;
  }

  /**
   * Adds a task unless too many wait.
   *
   * @return false if it was dropped
   */
  boolean offer(Runnable task) {
    synchronized (tasks) {
      if (tasks.size() >= mostWaiting) {
        return false;
      }
    }
    execute(task);
    return true;
  }

  @Override
  public void execute(Runnable task) {
    synchronized (tasks) {
      tasks.add(task);
      if (running) {
        return;
      }
      running = true;
    }
    try {
      executor.execute(this::drain);
    } catch (RejectedExecutionException e) {
      // The application has shut its executor down. Stages must complete all the same.
      LOG.debug("the executor refuses tasks: using a thread of our own", e);
      Thread last = new Thread(this::drain, "eventbus-last-tasks");
      last.setDaemon(true);
      last.start();
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
        LOG.warn("a callback of the application failed", e);
      }
    }
  }
}
