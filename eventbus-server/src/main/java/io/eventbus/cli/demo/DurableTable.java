package io.eventbus.cli.demo;

import java.util.ArrayList;
import java.util.List;

/** Table of the demo of durable topics. For one thread. */
final class DurableTable {
  private static final String BUS = "  %-20s %-10s %9s %15s";
  private static final String READER = "  %-20s %-10s %9s / %s";

  private final List<DemoPublisher> publishers;
  private final List<DurableReader> readers;
  private final boolean colour;
  private List<Row> rows = List.of();
  private String phase = "";

  /**
   * Bus in the table.
   *
   * @param killed whether it does not run; the others are of no meaning then
   * @param last the last position of the journal at this bus
   */
  record Row(String name, boolean killed, boolean leads, long clients, long last) {}

  DurableTable(List<DemoPublisher> publishers, List<DurableReader> readers, boolean colour) {
    this.publishers = publishers;
    this.readers = readers;
    this.colour = colour;
  }

  void phase(String text) {
    phase = text;
  }

  void buses(List<Row> now) {
    rows = now;
  }

  /** Returns the table. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add("  " + phase);
    lines.add(DemoTable.bold(BUS.formatted("bus", "", "clients", "last position"), colour));
    for (Row row : rows) {
      lines.add(
          row.killed()
              ? BUS.formatted(row.name(), "killed", "", "")
              : BUS.formatted(
                  row.name(),
                  row.leads() ? "leads" : "",
                  row.clients(),
                  "%,d".formatted(row.last())));
    }
    // Read first: nothing is confirmed that was not published before.
    long confirmed = publishers.stream().mapToLong(DemoPublisher::confirmed).sum();
    lines.add(
        "  published %,d of %,d, confirmed %,d"
            .formatted(
                publishers.stream().mapToLong(DemoPublisher::published).sum(),
                publishers.stream().mapToLong(DemoPublisher::expected).sum(),
                confirmed));
    lines.add(DemoTable.bold(READER.formatted("reader", "at", "received", "all"), colour));
    for (DurableReader reader : readers) {
      lines.add(
          READER.formatted(
              reader.title(),
              reader.bus(),
              "%,d".formatted(reader.tally().received()),
              "%,d".formatted(reader.tally().expected())));
    }
    return lines;
  }
}
