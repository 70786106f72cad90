package io.eventbus.cli.demo;

import static io.eventbus.cli.demo.DurablePhases.STEP_TIMEOUT;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.demo.DurableReader.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Demo that stores flights in a journal of several buses of which the leading one is killed and
 * started again; and compares what each reader got, and the log of each bus, with the data. For one
 * thread.
 */
final class DurableDemo implements AutoCloseable {
  static final String JOURNAL = "flights";

  private static final String ALL = "flights.>";

  // Shares of the events after whose publication something happens.
  private static final double LEAVES = 0.15;
  private static final double KILLED = 0.3;
  private static final double STARTED_AGAIN = 0.45;
  private static final double LATE = 0.85;

  private final List<Flight> flights;
  private final DemoCluster cluster;
  private final Duration duration;
  private final DemoScreen screen;
  private final boolean colour;
  private final DemoClients clients = new DemoClients(STEP_TIMEOUT);
  private final List<DemoPublisher> publishers = new ArrayList<>();
  private final List<DurableReader> readers = new ArrayList<>();
  private final ConfirmationGap gap = new ConfirmationGap();
  private final DemoLog confirmed;
  private final DurablePhases phases;
  private final DurableReader billing;
  private final DurableReader archive;
  private final DurableReader board;

  DurableDemo(
      List<Flight> all, DemoCluster cluster, Duration duration, DemoScreen screen, boolean colour) {
    this.flights = all.stream().map(Flight::evenly).toList();
    this.cluster = cluster;
    this.duration = duration;
    this.screen = screen;
    this.colour = colour;
    confirmed = new DemoLog(flights.size());
    phases = new DurablePhases(cluster, screen, duration, publishers, readers, colour);
    billing =
        new DurableReader(
            Kind.DURABLE, "billing", "flights.*.landed", flights, f -> f.kind().equals("landed"));
    archive = reader(Kind.DURABLE, "archive");
    board = reader(Kind.LIVE, "board");
  }

  private DurableReader reader(Kind kind, String name) {
    return new DurableReader(kind, name, ALL, flights, flight -> true);
  }

  /**
   * Runs the demo.
   *
   * @throws CliFailure if a step fails
   * @throws InterruptedException if the thread was interrupted
   */
  DurableOutcome run() throws InterruptedException {
    DemoBus first = cluster.buses().get(0);
    phases.await(
        () -> first.createJournal(JOURNAL, ALL), "the buses do not have the journal " + JOURNAL);
    DemoBus leader = phases.leader();
    DemoBus besides = besides(leader);
    // Readers at the bus that is killed: board is moved away before, archive is not.
    join(billing, besides);
    join(archive, leader);
    join(board, leader);
    startPublishers();
    phases.show("A journal stores all flights at all buses. %s leads.".formatted(leader.name()));
    leave(besides);
    killLeader();
    comeLate(besides);
    finish();
    DurableOutcome outcome = replayEach();
    screen.lines(
        DemoTable.result(
            readers.stream()
                .map(r -> new DemoTable.Result(r.title(), r.filter(), r.tally().verdict()))
                .toList(),
            colour));
    return outcome;
  }

  private DemoBus besides(DemoBus bus) {
    return cluster.buses().stream().filter(other -> other != bus).findFirst().orElseThrow();
  }

  // ---- The steps

  private void join(DurableReader reader, DemoBus bus) throws InterruptedException {
    if (!readers.contains(reader)) {
      readers.add(reader);
    }
    reader.join(clients.connect(bus.uri(), reader.name()), STEP_TIMEOUT);
  }

  private void startPublishers() {
    // The clock starts once everything is connected.
    DemoClock clock =
        new DemoClock(flights, duration, System.nanoTime() + Duration.ofMillis(500).toNanos());
    List<DemoBus> buses = cluster.buses();
    for (DemoCast.Writer writer : DemoCast.writers()) {
      DemoBus bus = buses.get(publishers.size() % buses.size());
      publishers.add(
          new DemoPublisher(
              writer.name(),
              flights,
              writer.mine(),
              clients.connect(bus.uri(), writer.name()),
              clock,
              (flight, published) -> {
                gap.confirmed(System.nanoTime());
                confirmed.add(flight.line(), published.position());
              }));
    }
    screen.start();
    publishers.forEach(DemoPublisher::start);
  }

  private void leave(DemoBus bus) throws InterruptedException {
    phases.awaitPublished(LEAVES);
    billing.leave(STEP_TIMEOUT);
    long handled = billing.position();
    phases.await(
        () -> bus.settled(JOURNAL, billing.name()) >= handled,
        "%s does not say that %s has settled position %d"
            .formatted(bus.name(), billing.name(), handled));
    phases.show(
        "%s has left %s after %,d events: all up to position %,d is settled."
            .formatted(billing.name(), bus.name(), billing.tally().received(), handled));
  }

  private void killLeader() throws InterruptedException {
    phases.awaitPublished(KILLED);
    DemoBus killed = phases.leader();
    DemoBus asked = besides(killed);
    moveBoard(killed, asked);
    long position = killed.lastPosition(JOURNAL);
    gap.begin();
    long begun = System.nanoTime();
    killed.kill();
    Map<DemoPublisher, Long> published = new HashMap<>();
    publishers.forEach(publisher -> published.put(publisher, publisher.published()));
    phases.show("%s, which leads, is killed while events are published.".formatted(killed.name()));
    phases.await(
        () -> publishers.stream().allMatch(p -> goesOn(p, published.getOrDefault(p, 0L))),
        "publishers do not go on without " + killed.name());
    double publishing = seconds(begun);
    long stored = asked.lastPosition(JOURNAL);
    phases.await(
        () -> archive.position() >= stored,
        archive.name() + " does not go on without " + killed.name());
    phases.show(
        ("For %.2f s no event was confirmed; now %s leads. All publishers go on after %.1f s, %s"
                + " after %.1f s.")
            .formatted(
                gap.longest().toNanos() / 1e9,
                phases.leader().name(),
                publishing,
                archive.name(),
                seconds(begun)));
    startAgain(killed, asked, position);
  }

  private static double seconds(long begunNanos) {
    return (System.nanoTime() - begunNanos) / 1e9;
  }

  private static boolean goesOn(DemoPublisher publisher, long before) {
    return publisher.confirmed() > before || publisher.confirmed() == publisher.expected();
  }

  /** Moves the live subscriber away: it gets nothing of the time in which it has no connection. */
  private void moveBoard(DemoBus from, DemoBus to) throws InterruptedException {
    if (board.bus().equals(from.name())) {
      from.move(board.name(), to.name());
      phases.await(
          () -> board.bus().equals(to.name()), board.name() + " does not go to " + to.name());
      phases.show(
          "%s is moved to %s: as it is live, it would miss what is published while it reconnects."
              .formatted(board.name(), to.name()));
    }
  }

  private void startAgain(DemoBus killed, DemoBus asked, long position)
      throws InterruptedException {
    phases.awaitPublished(STARTED_AGAIN);
    phases.show("%s is started again, with its directory.".formatted(killed.name()));
    long begun = System.nanoTime();
    DemoBus again = cluster.restart(killed, asked);
    double listens = seconds(begun);
    long end = asked.lastPosition(JOURNAL);
    phases.await(() -> again.lastPosition(JOURNAL) >= end, again.name() + " does not catch up");
    phases.show(
        "%s takes clients after %.1f s, and has the %,d events of its absence after %.1f s."
            .formatted(again.name(), listens, end - position, seconds(begun)));
    long had = billing.tally().received();
    join(billing, again);
    phases.await(
        () -> billing.tally().received() > had || billing.tally().complete(),
        billing.name() + " gets nothing at " + again.name());
    phases.show(
        "%s is back, at %s, and goes on where it stopped.".formatted(billing.name(), again.name()));
  }

  private void comeLate(DemoBus bus) throws InterruptedException {
    phases.awaitPublished(LATE);
    DurableReader late = reader(Kind.REPLAY, "late");
    // That bus may have been killed: by its name it is the one that was started again.
    DemoBus now =
        cluster.buses().stream().filter(b -> b.name().equals(bus.name())).findFirst().orElseThrow();
    join(late, now);
    phases.show(
        "%s comes late, to %s, and replays all from the first.".formatted(late.name(), now.name()));
  }

  private void finish() throws InterruptedException {
    // Missing events are the result of the demo, not a failed step.
    boolean unused =
        phases.awaited(
            () ->
                publishers.stream().allMatch(p -> p.confirmed() == p.expected())
                    && readers.stream().allMatch(reader -> reader.tally().complete()),
            duration.plus(STEP_TIMEOUT));
    for (DemoPublisher publisher : publishers) {
      publisher.finish(STEP_TIMEOUT);
    }
    for (DurableReader reader : readers) {
      reader.leave(STEP_TIMEOUT);
    }
    phases.show("All is published and read. The log of each bus is replayed.");
  }

  /** Replays the log of each bus, and compares it. */
  private DurableOutcome replayEach() throws InterruptedException {
    long last = 0;
    for (DemoBus bus : cluster.buses()) {
      last = Math.max(last, bus.lastPosition(JOURNAL));
    }
    long end = last;
    int untold = 0;
    Map<String, Integer> differences = new LinkedHashMap<>();
    for (DemoBus bus : cluster.buses()) {
      DurableReader replay = reader(Kind.REPLAY, "log of " + bus.name());
      join(replay, bus);
      boolean unused = phases.awaited(() -> replay.position() >= end, STEP_TIMEOUT);
      replay.leave(STEP_TIMEOUT);
      untold += confirmed.complete(replay.log());
      differences.put(bus.name(), replay.log().differences(confirmed));
    }
    return new DurableOutcome(
        readers.stream().map(reader -> reader.tally().verdict()).toList(), differences, untold);
  }

  @Override
  public void close() {
    publishers.forEach(DemoPublisher::stop);
    clients.close();
  }
}
