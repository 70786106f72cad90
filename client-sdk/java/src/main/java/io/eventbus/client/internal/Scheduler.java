package io.eventbus.client.internal;

/** The conductor's thread and its timers. Tasks run one at a time, in order. */
interface Scheduler {
  /** Runs a task soon. Any thread may call it; after {@link #shutdown} it does nothing. */
  void execute(Runnable task);

  /** Runs a task after a delay. */
  Timer schedule(Runnable task, long delayNanos);

  /** Runs no further task. */
  void shutdown();

  /** A task that waits for its time. */
  interface Timer {
    /** Makes sure that the task does not run, unless it does already. */
    void cancel();
  }
}
