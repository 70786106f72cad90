package io.eventbus.loadtest.faults.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Journal as the final reads of all buses show it together. Its construction compares them, and
 * finds positions that one bus lacks, that have two events, or that no bus has.
 */
final class FinalLog {
  private final List<Reading> finals;
  private final List<Map<Long, EventName>> byBus = new ArrayList<>();
  private final Map<Long, EventName> events = new HashMap<>();
  private final Map<EventName, Long> positions = new HashMap<>();

  /** Events that only readers or publishers have seen, by the position that they were told. */
  private final Map<Long, EventName> missing = new HashMap<>();

  private final long[] sorted;

  private FinalLog(List<Reading> finals) {
    this.finals = finals;
    for (Reading reading : finals) {
      Map<Long, EventName> bus = new HashMap<>();
      for (Sighting seen : reading.seen()) {
        bus.put(seen.position(), seen.event());
        events.putIfAbsent(seen.position(), seen.event());
      }
      byBus.add(bus);
    }
    sorted = events.keySet().stream().mapToLong(Long::longValue).sorted().toArray();
    for (long position : sorted) {
      positions.putIfAbsent(event(position), position);
    }
  }

  /** Merges the final reads, and compares them. */
  static FinalLog of(List<Reading> finals, Findings findings) {
    FinalLog log = new FinalLog(finals);
    log.findHoles(findings);
    for (int bus = 0; bus < finals.size(); bus++) {
      for (long position : log.sorted) {
        log.expectAt(bus, position, HistoryRule.READ_IS_STORED, findings);
      }
    }
    return log;
  }

  private void findHoles(Findings findings) {
    long last = 0;
    for (long position : sorted) {
      if (position > last + 1 && !isCut(last + 1) && !isCut(position - 1)) {
        findings.add(
            HistoryRule.READ_IN_ORDER,
            "no bus has positions " + (last + 1) + " to " + (position - 1));
      }
      last = position;
    }
  }

  /** Finds a position that the final read of one bus should have. */
  private void expectAt(int bus, long position, HistoryRule rule, Findings findings) {
    if (!byBus.get(bus).containsKey(position) && !finals.get(bus).isCut(position)) {
      findings.add(
          rule,
          "position "
              + position
              + " is not at "
              + finals.get(bus).reader()
              + ", which has "
              + byBus.get(bus).size()
              + " events"
              + (events.containsKey(position) ? " (elsewhere: " + events.get(position) + ")" : ""));
    }
  }

  /** Finds a position that the final read of some bus should have. */
  void expect(long position, HistoryRule rule, Findings findings) {
    for (int bus = 0; bus < finals.size(); bus++) {
      expectAt(bus, position, rule, findings);
    }
  }

  /** Finds a position that has another event elsewhere. */
  void claim(long position, EventName event, Object seen, Findings findings) {
    @Nullable EventName other = events.get(position);
    if (other == null) {
      other = missing.putIfAbsent(position, event);
    }
    if (other != null && !other.equals(event)) {
      findings.add(HistoryRule.ONE_EVENT_A_POSITION, seen + ", where others have " + other);
    }
  }

  /** Returns whether a final read was told not to get a position. */
  boolean isCut(long position) {
    return finals.stream().anyMatch(reading -> reading.isCut(position));
  }

  /** Returns all positions with an event, ascending. */
  long[] positions() {
    return sorted;
  }

  /** Returns the event of one of {@link #positions}. */
  EventName event(long position) {
    @Nullable EventName event = events.get(position);
    if (event == null) {
      throw new IllegalArgumentException("position: " + position + " (expected: one of the log)");
    }
    return event;
  }

  boolean has(long position) {
    return events.containsKey(position);
  }

  /** Returns the first position of an event, 0 if it is not there. */
  long position(EventName event) {
    return positions.getOrDefault(event, 0L);
  }
}
