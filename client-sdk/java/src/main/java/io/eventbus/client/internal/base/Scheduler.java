package io.eventbus.client.internal.base;

/** Thread of the conductor and its timers. Tasks run one at a time, in order. */
public interface Scheduler {
  /** Runs a task soon. Any thread may call it; after {@link #shutdown} it does nothing. */
  void execute(Runnable task);

  /** Runs a task after a delay. */
  Timer schedule(Runnable task, long delayNanos);

  /** Stops running tasks. */
  void shutdown();

  /** Task that waits for its time. */
  interface Timer {
    /** Cancels the task, unless it runs already. */
    void cancel();
  }
}
