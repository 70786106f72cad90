package io.eventbus.client.internal;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A {@link Scheduler} with a thread of its own. */
final class ConductorThread implements Scheduler {
  private static final Logger LOG = LoggerFactory.getLogger(ConductorThread.class);

  private final ScheduledThreadPoolExecutor executor;

  ConductorThread(String threadName) {
    executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, threadName);
              thread.setDaemon(true);
              return thread;
            });
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public void execute(Runnable task) {
    try {
      executor.execute(guarded(task));
    } catch (RejectedExecutionException e) {
      LOG.trace("closed: a late task is not run", e);
    }
  }

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    try {
      ScheduledFuture<?> future =
          executor.schedule(guarded(task), delayNanos, TimeUnit.NANOSECONDS);
      return () -> future.cancel(false);
    } catch (RejectedExecutionException e) {
      LOG.trace("closed: a late timer is not set", e);
      return () -> {};
    }
  }

  private static Runnable guarded(Runnable task) {
    return () -> {
      try {
        task.run();
      } catch (RuntimeException e) {
        // A timer's exception would vanish in its future.
        LOG.error("an internal task failed", e);
      }
    };
  }

  @Override
  public void shutdown() {
    executor.shutdown();
  }
}
