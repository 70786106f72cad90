package io.eventbus.cli.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Table of the demo's buses and their figures. For one thread. */
final class ClusterTable {
  private static final String ROW = "  %-8s %-11s %6s %8s %9s %10s %9s %10s %10s";

  private final DemoMoves moves;
  private final List<DemoPublisher> publishers;
  private final List<DemoSubscriber> subscribers;
  private final DemoLatency latency;
  private final boolean colour;
  private final Map<String, DemoFigures> before = new HashMap<>();
  private List<Row> rows = List.of();
  private Duration drawnAt = Duration.ZERO;
  private String phase = "";

  /** Bus in the table. */
  record Row(String name, boolean gone, DemoFigures figures) {}

  ClusterTable(
      DemoMoves moves,
      List<DemoPublisher> publishers,
      List<DemoSubscriber> subscribers,
      DemoLatency latency,
      boolean colour) {
    this.moves = moves;
    this.publishers = publishers;
    this.subscribers = subscribers;
    this.latency = latency;
    this.colour = colour;
  }

  void phase(String text) {
    phase = text;
  }

  void buses(List<Row> now) {
    rows = now;
  }

  /** Returns the table after {@code elapsed}; rates are those since the table before. */
  List<String> live(Duration elapsed) {
    double seconds = Math.max(0.001, elapsed.minus(drawnAt).toNanos() / 1e9);
    drawnAt = elapsed;
    List<String> lines = new ArrayList<>();
    lines.add("  " + phase);
    lines.add(
        DemoTable.bold(
            ROW.formatted(
                "bus",
                "",
                "load",
                "clients",
                "in/s",
                "out/s",
                "to buses/s",
                "moved out",
                "moved in"),
            colour));
    rows.forEach(row -> lines.add(line(row, seconds)));
    // Read first: nothing is confirmed that was not published before.
    long confirmed = publishers.stream().mapToLong(DemoPublisher::confirmed).sum();
    long published = publishers.stream().mapToLong(DemoPublisher::published).sum();
    lines.add(
        "  published %,d of %,d, confirmed %,d; received %,d of %,d"
            .formatted(
                published,
                publishers.stream().mapToLong(DemoPublisher::expected).sum(),
                confirmed,
                subscribers.stream().mapToLong(s -> s.tally().received()).sum(),
                subscribers.stream().mapToLong(s -> s.tally().expected()).sum()));
    DemoLatency.Leg leg = latency.legs().fromBus();
    lines.add(
        String.format(
            Locale.ROOT,
            "  from the first bus to the subscriber: p50 %.1f ms, p99 %.1f ms",
            leg.p50(),
            leg.p99()));
    return lines;
  }

  private String line(Row row, double seconds) {
    DemoFigures now = row.figures();
    DemoFigures last = before.getOrDefault(row.name(), DemoFigures.NONE);
    before.put(row.name(), now);
    String text =
        ROW.formatted(
            row.name(),
            state(row),
            row.gone() ? "" : String.format(Locale.ROOT, "%.0f %%", now.load() * 100),
            row.gone() ? "" : Long.toString(now.clients()),
            rate(now.eventsIn() - last.eventsIn(), seconds),
            rate(now.eventsOut() - last.eventsOut(), seconds),
            rate(now.forwarded() - last.forwarded(), seconds),
            moves.out(row.name()),
            moves.in(row.name()));
    return DemoTable.red(text, colour && now.overloaded() && !row.gone());
  }

  private static String state(Row row) {
    if (row.gone()) {
      return "gone";
    }
    return row.figures().draining() ? "draining" : row.figures().overloaded() ? "OVERLOADED" : "";
  }

  private static String rate(long events, double seconds) {
    return String.format(Locale.ROOT, "%,d", Math.round(Math.max(0, events) / seconds));
  }
}
