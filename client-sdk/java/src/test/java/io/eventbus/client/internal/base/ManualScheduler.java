package io.eventbus.client.internal.base;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;

/** Scheduler that runs tasks at once, one at a time, and timers when a test moves the clock. */
public final class ManualScheduler implements Scheduler {
  private record Waiting(long at, Runnable task) {}

  private final FakeClock clock;
  private final List<Waiting> timers = new ArrayList<>();
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private boolean running;
  private boolean shutDown;

  public ManualScheduler(FakeClock clock) {
    this.clock = clock;
  }

  @Override
  public void execute(Runnable task) {
    synchronized (this) {
      if (shutDown) {
        return;
      }
      tasks.add(task);
      if (running) {
        return;
      }
      running = true;
    }
    while (true) {
      Runnable next;
      synchronized (this) {
        next = tasks.poll();
        if (next == null) {
          running = false;
          return;
        }
      }
      next.run();
    }
  }

  @Override
  public synchronized Timer schedule(Runnable task, long delayNanos) {
    Waiting waiting = new Waiting(clock.nanoTime() + delayNanos, task);
    timers.add(waiting);
    return () -> cancel(waiting);
  }

  private synchronized void cancel(Waiting waiting) {
    timers.remove(waiting);
  }

  /** Returns the number of timers. */
  public synchronized int timers() {
    return timers.size();
  }

  /** Moves the clock, stopping at each timer on the way. */
  public void advance(Duration duration) {
    long end = clock.nanoTime() + duration.toNanos();
    for (Waiting due = takeDue(end); due != null; due = takeDue(end)) {
      clock.advance(Duration.ofNanos(Math.max(0, due.at - clock.nanoTime())));
      execute(due.task);
    }
    clock.advance(Duration.ofNanos(end - clock.nanoTime()));
  }

  @org.jspecify.annotations.Nullable
  private synchronized Waiting takeDue(long end) {
    Waiting due =
        timers.stream()
            .filter(w -> w.at - end <= 0)
            .min(Comparator.comparingLong(Waiting::at))
            .orElse(null);
    timers.remove(due);
    return due;
  }

  @Override
  public synchronized void shutdown() {
    shutDown = true;
    timers.clear();
  }
}
