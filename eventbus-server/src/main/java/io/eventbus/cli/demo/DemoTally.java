package io.eventbus.cli.demo;

import io.eventbus.client.ReceivedEvent;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * Comparison of what a subscriber (or all members of a group together) got with the data. The
 * expected events come from the data alone, not from the bus's idea of a filter. Safe for use by
 * several threads.
 */
final class DemoTally {
  /** Header with the number of the line in the data, so that nothing is compared by guess. */
  static final String LINE_HEADER = "line";

  private final List<Flight> flights;
  private final BitSet expected = new BitSet();
  private final BitSet seen = new BitSet();
  private long received;
  private long doubled;
  private long disordered;
  private long wrong;

  DemoTally(List<Flight> flights, Predicate<Flight> expectation) {
    this.flights = flights;
    flights.stream().filter(expectation).forEach(flight -> expected.set(flight.line()));
  }

  /** Returns the line that an event says it has; -1 for none of so many. */
  static int line(ReceivedEvent event, int lines) {
    try {
      int line = Integer.parseInt(event.headers().getOrDefault(LINE_HEADER, ""));
      return line < lines ? line : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** Creates a member with an order of its own, since a group shares the events of a topic. */
  Member member() {
    return new Member();
  }

  synchronized long received() {
    return received;
  }

  long expected() {
    return expected.cardinality();
  }

  synchronized boolean complete() {
    return received >= expected.cardinality();
  }

  synchronized Verdict verdict() {
    BitSet missing = (BitSet) expected.clone();
    missing.andNot(seen);
    return new Verdict(
        expected.cardinality(), received, missing.cardinality(), doubled, disordered, wrong);
  }

  private synchronized void count(int line, boolean inOrder, boolean genuine) {
    received++;
    if (!genuine) {
      wrong++;
      return;
    }
    if (seen.get(line)) {
      doubled++;
    } else if (!inOrder) {
      disordered++;
    }
    seen.set(line);
  }

  /** Member of a group, or a subscriber alone. For one thread at a time. */
  final class Member {
    private final Map<String, Integer> lastLineByTopic = new HashMap<>();
    private long lastPosition;

    void accept(ReceivedEvent event) {
      int line = line(event, flights.size());
      boolean genuine = line >= 0 && expected.get(line) && same(flights.get(line), event);
      Integer last = genuine ? lastLineByTopic.put(event.topic(), line) : null;
      // Events of a journal have one order over all topics.
      boolean ascending = event.position() == 0 || event.position() > lastPosition;
      lastPosition = Math.max(lastPosition, event.position());
      count(line, ascending && (last == null || last < line), genuine);
    }

    private static boolean same(Flight flight, ReceivedEvent event) {
      return flight.topic().equals(event.topic())
          && flight.key().equals(event.key())
          && flight.payload().equals(event.text());
    }
  }

  /**
   * Verdict on a subscriber.
   *
   * @param missing expected events that it did not get
   * @param disordered events that came after a later one of their topic, or of their journal
   * @param wrong events that it must not get, or with other content
   */
  record Verdict(
      long expected, long received, long missing, long doubled, long disordered, long wrong) {
    boolean good() {
      return missing == 0 && doubled == 0 && disordered == 0 && wrong == 0 && expected == received;
    }

    /** Returns what is wrong with these verdicts, for people; empty if all are good. */
    static List<String> deviations(List<Verdict> verdicts) {
      long bad = verdicts.stream().filter(v -> !v.good()).count();
      return bad == 0
          ? List.of()
          : List.of(
              ("%d of %d subscribers did not get exactly the events that the data says, in order:"
                      + " %d missing, %d doubled, %d out of order, %d wrong")
                  .formatted(
                      bad,
                      verdicts.size(),
                      sum(verdicts, Verdict::missing),
                      sum(verdicts, Verdict::doubled),
                      sum(verdicts, Verdict::disordered),
                      sum(verdicts, Verdict::wrong)));
    }

    private static long sum(List<Verdict> verdicts, ToLongFunction<Verdict> figure) {
      return verdicts.stream().mapToLong(figure).sum();
    }
  }
}
