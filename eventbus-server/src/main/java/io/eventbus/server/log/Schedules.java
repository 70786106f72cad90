package io.eventbus.server.log;

import org.slf4j.Logger;

/** Tasks that are run again and again. */
public final class Schedules {
  private Schedules() {}

  /**
   * Makes a task that can be scheduled: what goes wrong in it is told, at a bounded rate. An
   * executor would never run it again after an exception.
   *
   * @param log where that is told
   * @param what what the task does, as it goes on before "has failed"
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
