package io.eventbus.loadtest.coordination.run;

import java.time.Duration;

/**
 * How a phase is made.
 *
 * @param round from 1; 0 for the first warm-up
 */
record Load(String experiment, int clients, int inFlight, int round, Duration length) {
  Load named(String other) {
    return new Load(other, clients, inFlight, round, length);
  }

  Load during(Duration other) {
    return new Load(experiment, clients, inFlight, round, other);
  }
}
