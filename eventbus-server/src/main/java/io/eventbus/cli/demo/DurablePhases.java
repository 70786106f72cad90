package io.eventbus.cli.demo;

import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Phases of the demo of durable topics: waits for their ends, and shows them. For one thread. */
final class DurablePhases {
  /** Deadline of a step, which only notices that it never ends. */
  static final Duration STEP_TIMEOUT = Duration.ofMinutes(2);

  private final DemoCluster cluster;
  private final DemoScreen screen;
  private final Duration duration;
  private final List<DemoPublisher> publishers;
  private final DurableTable table;

  /** Condition that buses are asked for. */
  @FunctionalInterface
  interface Condition {
    boolean holds() throws InterruptedException;
  }

  /**
   * Creates the phases of a demo whose publishers and readers may come later.
   *
   * @param duration the time in which all is to be published
   */
  DurablePhases(
      DemoCluster cluster,
      DemoScreen screen,
      Duration duration,
      List<DemoPublisher> publishers,
      List<DurableReader> readers,
      boolean colour) {
    this.cluster = cluster;
    this.screen = screen;
    this.duration = duration;
    this.publishers = publishers;
    this.table = new DurableTable(publishers, readers, colour);
  }

  /** Shows what has happened, and the state of everything. */
  void show(String text) throws InterruptedException {
    table.phase(text);
    look();
    screen.drawLast(elapsed -> table.lines());
  }

  /**
   * Waits until something holds.
   *
   * @throws CliFailure if that takes too long, or a publisher has failed
   */
  void await(Condition condition, String otherwise) throws InterruptedException {
    require(condition, STEP_TIMEOUT, otherwise);
  }

  /** Returns the bus that leads the journal, by its own word. */
  DemoBus leader() throws InterruptedException {
    AtomicReference<@Nullable DemoBus> found = new AtomicReference<>();
    await(
        () -> {
          found.set(findLeader());
          return found.get() != null;
        },
        "no bus leads the journal");
    return Objects.requireNonNull(found.get());
  }

  private @Nullable DemoBus findLeader() throws InterruptedException {
    for (DemoBus bus : cluster.buses()) {
      if (!bus.isEnding() && bus.leader().equals(bus.name())) {
        return bus;
      }
    }
    return null;
  }

  /** Waits until a share of all events is published. */
  void awaitPublished(double share) throws InterruptedException {
    long all = publishers.stream().mapToLong(DemoPublisher::expected).sum();
    require(
        () -> publishers.stream().mapToLong(DemoPublisher::published).sum() >= all * share,
        duration.plus(STEP_TIMEOUT),
        "publishers are too slow: they have not published %.0f %% of all".formatted(share * 100));
  }

  private void require(Condition condition, Duration timeout, String otherwise)
      throws InterruptedException {
    if (!awaited(condition, timeout)) {
      throw new CliFailure(ExitCode.FAILED, otherwise + " within " + timeout.toSeconds() + " s");
    }
  }

  /**
   * Waits until something holds; returns false if that takes too long.
   *
   * @throws CliFailure if a publisher has failed
   */
  boolean awaited(Condition condition, Duration timeout) throws InterruptedException {
    Duration end = screen.elapsed().plus(timeout);
    while (!condition.holds()) {
      if (screen.elapsed().compareTo(end) >= 0) {
        return false;
      }
      publishers.forEach(DemoPublisher::check);
      screen.pause();
      look();
      screen.animate(elapsed -> table.lines());
    }
    return true;
  }

  private void look() throws InterruptedException {
    List<DurableTable.Row> rows = new ArrayList<>();
    for (DemoBus bus : cluster.buses()) {
      rows.add(
          bus.isEnding()
              ? new DurableTable.Row(bus.name(), true, false, 0, 0)
              : new DurableTable.Row(
                  bus.name(),
                  false,
                  bus.leader().equals(bus.name()),
                  bus.figures().clients(),
                  bus.lastPosition(DurableDemo.JOURNAL)));
    }
    table.buses(rows);
  }
}
