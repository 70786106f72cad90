package io.eventbus.loadtest.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * The figures of the paper that the product is built on (Gopalasetty and Jegarkal, "A High
 * Performance, Scalable Event-Bus System for Distributed Data Synchronization"), one line each,
 * with what each system needs here.
 */
final class PaperTable {
  /** Milliseconds in the paper, at the publisher and at the bus. */
  private record Sending(int messages, double publisherMillis, double busMillis) {}

  private static final List<Sending> SENDING =
      List.of(
          new Sending(1_000, 612, 532),
          new Sending(10_000, 3_541, 3_058),
          new Sending(100_000, 33_071, 33_040));

  private static final double LATENCY_MILLIS = 18.6;

  private PaperTable() {}

  /** Writes rows of cells, the first one the head; none if no workload of the paper was run. */
  static List<List<String>> rows(Report report) {
    List<Summary> of =
        report.summaries().stream().filter(s -> s.workload().startsWith("paper/")).toList();
    if (of.isEmpty()) {
      return List.of();
    }
    List<String> drivers = of.stream().map(Summary::driver).distinct().toList();
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("milliseconds", "the paper"));
    head.addAll(drivers);
    rows.add(head);
    for (Sending s : SENDING) {
      String workload = "paper/" + s.messages();
      String what = String.format(java.util.Locale.ROOT, "%,d messages, at the ", s.messages());
      rows.add(
          row(
              what + "publisher",
              s.publisherMillis(),
              of,
              drivers,
              workload,
              Summary::publisherMillis));
      rows.add(row(what + "bus", s.busMillis(), of, drivers, workload, Summary::busMillis));
    }
    rows.add(
        row(
            "mean latency at 3,000/s",
            LATENCY_MILLIS,
            of,
            drivers,
            "paper/rate-3000",
            s -> s.meanLatency() / 1000));
    return rows;
  }

  private static List<String> row(
      String what,
      double paper,
      List<Summary> summaries,
      List<String> drivers,
      String workload,
      ToDoubleFunction<Summary> figure) {
    List<String> row = new ArrayList<>(List.of(what, Figures.millis(paper)));
    for (String driver : drivers) {
      Optional<Summary> of =
          summaries.stream()
              .filter(s -> s.workload().equals(workload) && s.driver().equals(driver))
              .filter(s -> s.runs() > 0)
              .findFirst();
      row.add(of.map(s -> Figures.millis(figure.applyAsDouble(s))).orElse("-"));
    }
    return row;
  }
}
