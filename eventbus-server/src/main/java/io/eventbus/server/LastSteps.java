package io.eventbus.server;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The steps of the end of a bus. Whatever goes wrong in one, the next ones are taken. */
final class LastSteps {
  private static final Logger LOG = LoggerFactory.getLogger(LastSteps.class);

  /**
   * Takes a step.
   *
   * @param what what ends, as it goes on after "could not end"
   */
  void run(String what, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.error("the bus could not end {} in order", what, e);
    }
  }
}
