package io.eventbus.cli.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Publishers and subscribers of the demo of several buses: known before a bus runs, so that the
 * buses can be given a capacity which the first of them exceeds.
 */
final class DemoCast {
  static final int GROUP_MEMBERS = 3;

  /**
   * Rate that is low enough for the configured capacity to be the limit of a bus, not this machine.
   */
  private static final int EVENTS_PER_SECOND = 1_500;

  private static final int OTHER_AIRPORTS = 10;
  private static final List<String> NEW_YORK = List.of("EWR", "JFK", "LGA");
  private static final List<String> KINDS = List.of("scheduled", "departed");

  private final List<Flight> flights;
  private final Duration duration;
  private final List<Reader> readers = new ArrayList<>();

  /** Publisher. The events of a topic have one publisher each, so that they have one order. */
  record Writer(String name, Predicate<Flight> mine) {}

  /**
   * Subscriber.
   *
   * @param group the group whose members share the events; null for a subscriber alone
   */
  record Reader(
      String name,
      String filter,
      @Nullable String group,
      Predicate<Flight> wants,
      boolean crowded) {}

  /** Assigns the parts. */
  DemoCast(List<Flight> all, Duration duration) {
    this.duration = duration;
    long max = EVENTS_PER_SECOND * Math.max(1, duration.toSeconds());
    this.flights = all.stream().limit(max).map(Flight::evenly).toList();
    crowd("archive", "flights.>", null, f -> true);
    for (String airport : NEW_YORK) {
      for (String kind : KINDS) {
        crowd(
            airport + " " + kind,
            "flights." + airport + "." + kind,
            null,
            at(airport).and(of(kind)));
      }
    }
    crowd("departures", "flights.*.departed", null, of("departed"));
    crowd("arrivals (group)", "flights.*.landed", "arrivals", of("landed"));
    crowd("cancellations", "flights.*.cancelled", null, of("cancelled"));
    busiestElsewhere()
        .forEach(
            airport ->
                readers.add(
                    new Reader(
                        "all of " + airport,
                        "flights." + airport + ".>",
                        null,
                        at(airport),
                        false)));
  }

  private void crowd(String name, String filter, @Nullable String group, Predicate<Flight> wants) {
    readers.add(new Reader(name, filter, group, wants, true));
  }

  private List<String> busiestElsewhere() {
    Map<String, Long> counts =
        flights.stream()
            .map(Flight::airport)
            .filter(airport -> !Set.copyOf(NEW_YORK).contains(airport))
            .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    return counts.entrySet().stream()
        .sorted(
            Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                .thenComparing(Map.Entry.comparingByKey()))
        .limit(OTHER_AIRPORTS)
        .map(Map.Entry::getKey)
        .toList();
  }

  private static Predicate<Flight> at(String airport) {
    return f -> f.airport().equals(airport);
  }

  private static Predicate<Flight> of(String kind) {
    return f -> f.kind().equals(kind);
  }

  private static Predicate<Flight> elsewhere(char from, char to) {
    return f ->
        !NEW_YORK.contains(f.airport()) && letter(f.airport()) >= from && letter(f.airport()) <= to;
  }

  /** Returns the first letter; other first characters count as A. */
  private static char letter(String airport) {
    return airport.isEmpty() || airport.charAt(0) < 'A' ? 'A' : airport.charAt(0);
  }

  List<Flight> flights() {
    return flights;
  }

  /** Returns publishers that together have all topics. */
  static List<Writer> writers() {
    List<Writer> writers = new ArrayList<>();
    NEW_YORK.forEach(airport -> writers.add(new Writer(airport, at(airport))));
    writers.add(new Writer("elsewhere A-C", elsewhere('A', 'C')));
    writers.add(new Writer("elsewhere D-L", elsewhere('D', 'L')));
    writers.add(new Writer("elsewhere M-Z", elsewhere('M', Character.MAX_VALUE)));
    return writers;
  }

  List<Reader> readers() {
    return readers;
  }

  /**
   * Returns the events in a second that all buses together receive from clients and send to them.
   */
  long eventsPerSecond() {
    long deliveries =
        readers.stream().mapToLong(r -> flights.stream().filter(r.wants()).count()).sum();
    return Math.max(1, (flights.size() + deliveries) * 1_000 / duration.toMillis());
  }
}
