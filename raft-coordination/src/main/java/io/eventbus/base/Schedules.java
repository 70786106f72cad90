package io.eventbus.base;

import org.slf4j.Logger;

/** Wrappers of periodic tasks. */
public final class Schedules {
  private Schedules() {}

  /**
   * Returns a task that can be scheduled: failures in it are logged, at a bounded rate. An executor
   * would never run it again after an exception.
   *
   * @param what name of the task, as it goes on before "has failed"
   */
  public static Runnable guarded(Logger log, String what, Runnable task) {
    RateLimitedLog errors = new RateLimitedLog(log);
    return () -> {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        errors.error(what, e, what + " has failed; it is tried again");
      }
    };
  }
}
