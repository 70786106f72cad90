package io.eventbus.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.client.EventBusClient;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Demo that replays flights through several buses of which one is overloaded, and one is drained
 * and ended; and compares what each subscriber got with the data. For one thread.
 */
final class ClusterDemo implements AutoCloseable {
  private static final Duration STEP_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(20);
  private static final Duration END_TIMEOUT = Duration.ofSeconds(15);

  /** Share of the replay after which the drain begins, even if the overload is not over. */
  private static final double LATEST_DRAIN = 0.6;

  private final DemoCast cast;
  private final DemoCluster cluster;
  private final Duration duration;
  private final DemoScreen screen;
  private final DemoClients clients = new DemoClients(STEP_TIMEOUT);
  private final List<DemoPublisher> publishers = new ArrayList<>();
  private final List<DemoSubscriber> subscribers = new ArrayList<>();
  private final DemoLatency latency = new DemoLatency(Clock.systemUTC());
  private final DemoMoves moves = new DemoMoves();
  private final Set<String> gone = new HashSet<>();
  private final ClusterTable table;
  private final DemoTable results;
  private double highestLoad;

  ClusterDemo(
      DemoCast cast, DemoCluster cluster, Duration duration, DemoScreen screen, boolean colour) {
    this.cast = cast;
    this.cluster = cluster;
    this.duration = duration;
    this.screen = screen;
    this.table = new ClusterTable(moves, publishers, subscribers, latency, colour);
    this.results = new DemoTable(publishers, subscribers, latency, colour);
  }

  /**
   * Runs the demo.
   *
   * @throws CliFailure if a step fails
   * @throws InterruptedException if the thread was interrupted
   */
  ClusterOutcome run() throws InterruptedException {
    connect();
    screen.start();
    publishers.forEach(DemoPublisher::start);
    DemoBus first = cluster.buses().get(0);
    boolean relieved = awaitRelief(first);
    int byOverload = moves.moved();
    phase(
        relieved
            ? "%s is not overloaded any more: %d clients have gone to others."
                .formatted(first.name(), byOverload)
            : "%s: load up to %.0f %%, %d clients have gone to others so far."
                .formatted(first.name(), highestLoad * 100, byOverload));
    DemoBus drained = busiest(first);
    boolean empty = drain(first, drained);
    awaitReplay();
    return outcome(byOverload, drained, empty);
  }

  // ---- The steps

  private void connect() throws InterruptedException {
    List<DemoBus> buses = cluster.buses();
    int next = 0;
    for (DemoCast.Reader reader : cast.readers()) {
      DemoBus bus = reader.crowded() ? buses.get(0) : buses.get(1 + next++ % (buses.size() - 1));
      DemoSubscriber subscriber =
          new DemoSubscriber(
              reader.name(),
              reader.filter(),
              reader.group(),
              new DemoTally(cast.flights(), reader.wants()),
              latency);
      for (int i = 0; i < (reader.group() == null ? 1 : DemoCast.GROUP_MEMBERS); i++) {
        DemoPause pause = moves.subscriber();
        EventBusClient client = clients.connect(bus.uri(), reader.name(), moves.listener(pause));
        subscriber.join(client, pause::event, STEP_TIMEOUT);
      }
      subscribers.add(subscriber);
    }
    // The clock starts once everything is connected.
    DemoClock clock =
        new DemoClock(
            cast.flights(), duration, System.nanoTime() + Duration.ofMillis(500).toNanos());
    for (DemoCast.Writer writer : DemoCast.writers()) {
      EventBusClient client = clients.connect(buses.get(0).uri(), writer.name(), moves.listener());
      publishers.add(
          new DemoPublisher(writer.name(), cast.flights(), writer.mine(), client, clock));
    }
  }

  /** Waits until the overloaded bus has got rid of enough, or it is time to go on. */
  private boolean awaitRelief(DemoBus first) throws InterruptedException {
    table.phase(
        "Most clients are at %s: it is overloaded above %d %% of its capacity."
            .formatted(first.name(), DemoCluster.HIGH_PERCENT));
    Duration latest = Duration.ofMillis((long) (duration.toMillis() * LATEST_DRAIN));
    boolean shown = false;
    while (screen.elapsed().compareTo(latest) < 0) {
      step();
      DemoFigures now = first.figures();
      highestLoad = Math.max(highestLoad, now.load());
      if (now.overloaded() && !shown) {
        shown = true;
        phase("%s is overloaded and moves clients.".formatted(first.name()));
      }
      if (shown && !now.overloaded() && moves.moved() > 0) {
        return true;
      }
    }
    return false;
  }

  private DemoBus busiest(DemoBus besides) throws InterruptedException {
    DemoBus found = cluster.buses().get(1);
    for (DemoBus bus : cluster.buses()) {
      if (bus != besides && bus.figures().clients() > found.figures().clients()) {
        found = bus;
      }
    }
    return found;
  }

  /**
   * Drains a bus, ends it, and removes it from the registry; returns false if a client was left at
   * it.
   */
  private boolean drain(DemoBus first, DemoBus drained) throws InterruptedException {
    String name = drained.name();
    table.phase("%s is drained: its clients go to others.".formatted(name));
    first.drain(name);
    Duration end = screen.elapsed().plus(DRAIN_TIMEOUT);
    boolean empty = false;
    while (!empty && screen.elapsed().compareTo(end) < 0) {
      step();
      JsonNode told = first.buses().get(name);
      // Only reports from after its beginning.
      empty =
          told != null
              && told.path("draining").asBoolean()
              && told.path("clients").asLong(-1) == 0
              && drained.figures().clients() == 0;
    }
    phase(
        empty
            ? "%s has no clients. It is told to end.".formatted(name)
            : "%s still has clients. It is told to end.".formatted(name));
    drained.terminate();
    end = screen.elapsed().plus(END_TIMEOUT);
    while (drained.process().isAlive() && screen.elapsed().compareTo(end) < 0) {
      step();
    }
    if (drained.process().isAlive()) {
      throw drained.process().failure("does not end", null);
    }
    awaitGone(first, name);
    return empty;
  }

  private void awaitGone(DemoBus first, String name) throws InterruptedException {
    Duration end = screen.elapsed().plus(END_TIMEOUT);
    while (!isDown(first.buses().get(name))) {
      if (screen.elapsed().compareTo(end) >= 0) {
        throw new CliFailure(
            ExitCode.FAILED, name + " has ended and the registry does not say that it is DOWN");
      }
      step();
    }
    first.remove(name);
    if (first.members().containsKey(name) || first.buses().containsKey(name)) {
      throw new CliFailure(ExitCode.FAILED, name + " was removed and the registry still has it");
    }
    gone.add(name);
    phase("%s is gone from the registry.".formatted(name));
  }

  private static boolean isDown(@Nullable JsonNode bus) {
    return bus == null || bus.path("state").asText().equals("DOWN");
  }

  private void awaitReplay() throws InterruptedException {
    table.phase("The other buses serve all clients.");
    Duration end = duration.plus(STEP_TIMEOUT);
    while (!complete() && screen.elapsed().compareTo(end) < 0) {
      step();
    }
    for (DemoPublisher publisher : publishers) {
      publisher.finish(STEP_TIMEOUT);
    }
    for (DemoSubscriber subscriber : subscribers) {
      // Also brings to light what came twice: nothing comes after it.
      subscriber.leave(STEP_TIMEOUT);
    }
    screen.drawLast(table::live);
  }

  private boolean complete() {
    return publishers.stream().allMatch(p -> p.confirmed() == p.expected())
        && subscribers.stream().allMatch(s -> s.tally().complete());
  }

  // ---- What is shown

  private void step() throws InterruptedException {
    screen.pause();
    look();
    screen.animate(table::live);
  }

  private void look() throws InterruptedException {
    List<ClusterTable.Row> rows = new ArrayList<>();
    for (DemoBus bus : cluster.buses()) {
      rows.add(new ClusterTable.Row(bus.name(), gone.contains(bus.name()), bus.figures()));
    }
    table.buses(rows);
  }

  private void phase(String text) throws InterruptedException {
    look();
    table.phase(text);
    screen.drawLast(table::live);
  }

  private ClusterOutcome outcome(int byOverload, DemoBus drained, boolean empty) {
    ClusterOutcome outcome =
        new ClusterOutcome(
            subscribers.stream().map(s -> s.tally().verdict()).toList(),
            cluster.buses().get(0).name(),
            highestLoad,
            byOverload,
            drained.name(),
            empty);
    screen.lines(results.result());
    screen.lines(outcome.summary(moves));
    return outcome;
  }

  @Override
  public void close() {
    publishers.forEach(DemoPublisher::stop);
    clients.close();
  }
}
