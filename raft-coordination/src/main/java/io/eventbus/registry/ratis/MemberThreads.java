package io.eventbus.registry.ratis;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Threads of one bus's registry.
 *
 * <p>The thread "registry-start-…" does what may wait; "registry-timers-…" watches deadlines;
 * "registry-engine-…" makes the calls of Ratis that may wait, and completes their futures; up to
 * four "registry-raft-…" answer the Ratis of other buses.
 */
final class MemberThreads {
  private final String bus;
  private final ScheduledThreadPoolExecutor timers;
  private final ExecutorService raftWorkers;
  private final ExecutorService raftCalls;
  private final ExecutorService callers;
  private final ExecutorService starter;

  MemberThreads(String bus) {
    this.bus = bus;
    this.timers = new ScheduledThreadPoolExecutor(1, named("timers"));
    timers.setRemoveOnCancelPolicy(true);
    this.raftWorkers = Executors.newFixedThreadPool(4, named("raft"));
    this.raftCalls = Executors.newSingleThreadExecutor(named("engine"));
    // A single thread as a rule; more if callers wait. Their number is bounded by that of the
    // operations
    // that may be under way.
    this.callers = Executors.newCachedThreadPool(named("callers"));
    this.starter = Executors.newSingleThreadExecutor(named("start"));
  }

  ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, "registry-" + name + "-" + bus);
      thread.setDaemon(true);
      return thread;
    };
  }

  ScheduledThreadPoolExecutor timers() {
    return timers;
  }

  ExecutorService raftWorkers() {
    return raftWorkers;
  }

  ExecutorService raftCalls() {
    return raftCalls;
  }

  /** Returns the executor on which callers use results. */
  ExecutorService callers() {
    return callers;
  }

  ExecutorService starter() {
    return starter;
  }

  /** Stops accepting tasks that may wait. */
  void beginEnd() {
    starter.shutdown();
  }

  /**
   * Waits for tasks that may wait, 2 seconds at most, and then interrupts them; returns false if
   * they go on all the same.
   */
  boolean endStarting() {
    boolean ended = false;
    try {
      ended = starter.awaitTermination(2, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    starter.shutdownNow();
    return ended;
  }

  void end() {
    callers.shutdown();
    raftCalls.shutdown();
    raftWorkers.shutdown();
    timers.shutdown();
  }
}
