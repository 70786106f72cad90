package io.eventbus.cli.demo;

import io.eventbus.cli.console.BusLauncher.RunningBus;
import io.eventbus.cli.console.CliFailure;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Demo that replays flights through a bus, and compares what each subscriber got with the data. For
 * one thread.
 */
final class Demo implements AutoCloseable {
  private static final Duration STEP_TIMEOUT = Duration.ofSeconds(10);
  private static final int GROUP_MEMBERS = 3;
  private static final Set<String> NEW_YORK = Set.of("EWR", "JFK", "LGA");

  private final DemoClients clients = new DemoClients(STEP_TIMEOUT);
  private final List<DemoPublisher> publishers = new ArrayList<>();
  private final List<DemoSubscriber> subscribers = new ArrayList<>();
  private final DemoLatency latency = new DemoLatency(Clock.systemUTC());
  private final List<Flight> flights;
  private final Duration duration;
  private final DemoScreen screen;

  Demo(List<Flight> flights, Duration duration, DemoScreen screen) {
    this.flights = flights;
    this.duration = duration;
    this.screen = screen;
  }

  /**
   * Runs the demo.
   *
   * @throws CliFailure if something other than that fails
   * @throws InterruptedException if the thread was interrupted
   */
  boolean run(RunningBus bus, boolean colour) throws InterruptedException {
    URI uri = bus.uri();
    subscribe(uri, "departures-jfk", "flights.JFK.departed", null, Demo::departedFromJfk);
    subscribe(uri, "all-of-lga", "flights.LGA.>", null, f -> f.airport().equals("LGA"));
    subscribe(uri, "cancellations", "flights.*.cancelled", null, f -> f.kind().equals("cancelled"));
    subscribe(uri, "archive", "flights.>", null, f -> true);
    subscribe(
        uri, "arrivals (group)", "flights.*.landed", "arrivals", f -> f.kind().equals("landed"));
    // The clock starts once everything is connected.
    DemoClock clock =
        new DemoClock(flights, duration, System.nanoTime() + Duration.ofMillis(500).toNanos());
    // The events of a topic have one publisher each, so that they have one order.
    for (String airport : NEW_YORK.stream().sorted().toList()) {
      publisher(uri, airport, clock, f -> f.airport().equals(airport));
    }
    publisher(uri, "elsewhere A-L", clock, f -> elsewhere(f) && f.airport().charAt(0) < 'M');
    publisher(uri, "elsewhere M-Z", clock, f -> elsewhere(f) && f.airport().charAt(0) >= 'M');

    DemoTable table = new DemoTable(publishers, subscribers, latency, colour);
    publishers.forEach(DemoPublisher::start);
    screen.start();
    Duration end = duration.plus(STEP_TIMEOUT);
    Duration warmUp = duration.dividedBy(5);
    while (!complete() && screen.elapsed().compareTo(end) < 0) {
      screen.pause();
      if (!latency.warm() && screen.elapsed().compareTo(warmUp) >= 0) {
        latency.startOver();
      }
      screen.draw(table::live);
    }
    for (DemoPublisher publisher : publishers) {
      publisher.finish(STEP_TIMEOUT);
    }
    for (DemoSubscriber subscriber : subscribers) {
      // Also brings to light what came twice: nothing comes after it.
      subscriber.leave(STEP_TIMEOUT);
    }
    screen.drawLast(table::last);
    screen.lines(table.result());
    return subscribers.stream().allMatch(s -> s.tally().verdict().good());
  }

  private void subscribe(
      URI uri, String name, String filter, @Nullable String group, Predicate<Flight> expectation)
      throws InterruptedException {
    DemoSubscriber subscriber =
        new DemoSubscriber(name, filter, group, new DemoTally(flights, expectation), latency);
    for (int i = 0; i < (group == null ? 1 : GROUP_MEMBERS); i++) {
      subscriber.join(clients.connect(uri, name), STEP_TIMEOUT);
    }
    subscribers.add(subscriber);
  }

  private void publisher(URI uri, String name, DemoClock clock, Predicate<Flight> mine) {
    publishers.add(new DemoPublisher(name, flights, mine, clients.connect(uri, name), clock));
  }

  private boolean complete() {
    return publishers.stream().allMatch(p -> p.confirmed() == p.expected())
        && subscribers.stream().allMatch(s -> s.tally().complete());
  }

  private static boolean departedFromJfk(Flight flight) {
    return flight.airport().equals("JFK") && flight.kind().equals("departed");
  }

  private static boolean elsewhere(Flight flight) {
    return !NEW_YORK.contains(flight.airport());
  }

  @Override
  public void close() {
    publishers.forEach(DemoPublisher::stop);
    clients.close();
  }
}
