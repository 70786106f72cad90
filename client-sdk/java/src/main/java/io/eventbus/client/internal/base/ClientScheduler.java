package io.eventbus.client.internal.base;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Share of one client in the conductor, whose single thread all clients share. Its tasks and timers
 * end with the client.
 */
final class ClientScheduler implements Scheduler {
  private static final Logger LOG = LoggerFactory.getLogger(ClientScheduler.class);

  private final ScheduledExecutorService conductor;
  private final Set<ClientTimer> timers = ConcurrentHashMap.newKeySet();
  private volatile boolean shutDown;

  ClientScheduler(ScheduledExecutorService conductor) {
    this.conductor = conductor;
  }

  @Override
  public void execute(Runnable task) {
    try {
      if (!shutDown) {
        conductor.execute(() -> run(task));
      }
    } catch (RejectedExecutionException e) {
      LOG.trace("closed: a late task is not run", e);
    }
  }

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    ClientTimer timer = new ClientTimer(task);
    timers.add(timer);
    try {
      if (!shutDown) {
        timer.future = conductor.schedule(timer, delayNanos, TimeUnit.NANOSECONDS);
      }
    } catch (RejectedExecutionException e) {
      LOG.trace("closed: a late timer is not set", e);
    }
    if (shutDown) {
      timer.cancel();
    }
    return timer;
  }

  private void run(Runnable task) {
    if (!shutDown) {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        // The error would vanish in the timer's future.
        LOG.error("an internal task failed", e);
      }
    }
  }

  @Override
  public void shutdown() {
    shutDown = true;
    timers.forEach(ClientTimer::cancel);
  }

  private final class ClientTimer implements Timer, Runnable {
    private final Runnable task;
    private volatile @Nullable ScheduledFuture<?> future;

    ClientTimer(Runnable task) {
      this.task = task;
    }

    @Override
    public void run() {
      timers.remove(this);
      ClientScheduler.this.run(task);
    }

    @Override
    public void cancel() {
      timers.remove(this);
      ScheduledFuture<?> waiting = future;
      if (waiting != null) {
        waiting.cancel(false);
      }
    }
  }
}
