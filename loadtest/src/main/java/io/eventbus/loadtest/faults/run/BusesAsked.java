package io.eventbus.loadtest.faults.run;

import io.eventbus.loadtest.faults.buses.BusAnswers.DeadEvent;
import io.eventbus.loadtest.faults.buses.FaultBus;
import io.eventbus.loadtest.faults.buses.FaultBuses;
import io.eventbus.loadtest.faults.clients.FaultTopics;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Questions to all buses, of which some may be away. */
record BusesAsked(FaultBuses buses) {
  /** Returns the greatest position that a bus tells to be settled. */
  OptionalLong settled(String subscription) {
    return buses.all().stream()
        .map(FaultBus::state)
        .map(state -> state.settled(FaultTopics.JOURNAL, subscription))
        .flatMapToLong(OptionalLong::stream)
        .max();
  }

  /** Returns the dead letters of a shared durable subscription of which nothing else is left. */
  Optional<List<DeadEvent>> drained(String subscription) {
    return buses.all().stream()
        .map(FaultBus::state)
        .flatMap(state -> state.drained(FaultTopics.JOURNAL, subscription).stream())
        .findFirst();
  }
}
