package io.eventbus.loadtest.faults.history;

import java.util.List;
import java.util.Set;

/**
 * Events that one reader got, in the order in which it got them.
 *
 * @param reader its name; for a final read, the bus
 * @param topics those that its filter selects
 * @param from the position that it asked for; 0 if it began with new events
 * @param cuts what it was told not to get
 */
public record Reading(
    String reader, Set<String> topics, long from, List<Sighting> seen, List<Cut> cuts) {
  /** Copies the collections. */
  public Reading {
    topics = Set.copyOf(topics);
    seen = List.copyOf(seen);
    cuts = List.copyOf(cuts);
  }

  boolean isCut(long position) {
    return isCut(cuts, position);
  }

  static boolean isCut(List<Cut> cuts, long position) {
    return cuts.stream().anyMatch(cut -> cut.has(position));
  }
}
