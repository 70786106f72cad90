package io.eventbus.server;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Last steps of a bus. After a failure of one the next ones run all the same. */
final class LastSteps {
  private static final Logger LOG = LoggerFactory.getLogger(LastSteps.class);

  /**
   * Runs a step.
   *
   * @param what name of what ends, as it goes on after "could not end"
   */
  void run(String what, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.error("the bus could not end {} in order", what, e);
    }
  }
}
