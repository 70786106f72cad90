package io.eventbus.loadtest.coordination.run;

import java.time.Duration;

/**
 * How a phase is made.
 *
 * @param experiment its name
 * @param clients how many of the clients take part
 * @param inFlight commands of each at a time; more than one are sent in pipelines
 * @param round from 1; 0 for the first warm-up
 * @param length how long
 */
record Load(String experiment, int clients, int inFlight, int round, Duration length) {
  Load named(String other) {
    return new Load(other, clients, inFlight, round, length);
  }

  Load during(Duration other) {
    return new Load(experiment, clients, inFlight, round, other);
  }
}
