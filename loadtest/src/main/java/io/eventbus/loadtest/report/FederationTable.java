package io.eventbus.loadtest.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The figures of Marsh, Sampat, Potluri and Panda, "Scaling Advanced Message Queuing Protocol
 * (AMQP) Architecture with Broker Federation and InfiniBand", with what each system does here.
 */
final class FederationTable {
  private static final String FAMILY = "federation-shape/";
  private static final double MEGABYTE = 1e6;

  /** Messages per second with 64 bytes each. */
  private static final Map<String, Integer> SMALL = small();

  /** Megabytes per second. */
  private record Large(String shape, String size, int bytes, int megabytes) {}

  private static final List<Large> LARGE =
      List.of(
          new Large("B-C", "64KiB", 64 << 10, 262),
          new Large("B-C", "128KiB", 128 << 10, 254),
          new Large("B-C", "256KiB", 256 << 10, 194),
          new Large("B-8C", "64KiB", 64 << 10, 532),
          new Large("B-8C", "128KiB", 128 << 10, 504),
          new Large("B-8C", "256KiB", 256 << 10, 320),
          new Large("B-4B-8B-16C", "64KiB", 64 << 10, 1_744),
          new Large("B-4B-8B-16C", "128KiB", 128 << 10, 2_192),
          new Large("B-4B-8B-16C", "256KiB", 256 << 10, 2_544));

  private FederationTable() {}

  private static Map<String, Integer> small() {
    Map<String, Integer> rates = new LinkedHashMap<>();
    rates.put("B-C", 28_258);
    rates.put("B-B-B-B-B-C", 23_293);
    rates.put("B-8C", 2_570);
    rates.put("B-2B-2C", 23_918);
    rates.put("B-4B-4C", 3_774);
    rates.put("B-2B-16C", 1_152);
    rates.put("B-4B-16C", 7_251);
    rates.put("B-2B-4B-16C", 14_342);
    rates.put("B-4B-8B-16C", 3_642);
    rates.put("B-2B-4B-8B-16C", 8_291);
    return rates;
  }

  /** Writes rows of cells, the first one the head; none if nothing of it was measured. */
  static List<List<String>> rows(Report report) {
    List<Summary> of =
        report.summaries().stream()
            .filter(s -> s.workload().startsWith(FAMILY) && s.runs() > 0)
            .toList();
    List<String> drivers = of.stream().map(Summary::driver).distinct().toList();
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("shape", "figure", "the paper"));
    head.addAll(drivers);
    rows.add(head);
    SMALL.forEach(
        (shape, rate) -> {
          String workload = FAMILY + shape + "-64B";
          String paper = Figures.rate(rate);
          add(
              rows,
              of,
              drivers,
              shape,
              workload,
              "64 B: messages/s",
              paper,
              FederationTable::published);
          add(
              rows,
              of,
              drivers,
              shape,
              workload,
              "64 B: deliveries/s",
              "",
              FederationTable::delivered);
        });
    for (Large large : LARGE) {
      add(
          rows,
          of,
          drivers,
          large.shape(),
          FAMILY + large.shape() + "-" + large.size(),
          large.size() + ": MB/s to consumers",
          String.format(Locale.ROOT, "%,d", large.megabytes()),
          s -> Figures.millis(s.deliveredPerSecond() * large.bytes() / MEGABYTE));
    }
    return rows;
  }

  private static String published(Summary summary) {
    return Figures.rate(summary.publishedPerSecond());
  }

  private static String delivered(Summary summary) {
    return Figures.rate(summary.deliveredPerSecond());
  }

  private static void add(
      List<List<String>> rows,
      List<Summary> summaries,
      List<String> drivers,
      String shape,
      String workload,
      String what,
      String paper,
      Function<Summary, String> figure) {
    if (summaries.stream().noneMatch(s -> s.workload().equals(workload))) {
      return;
    }
    List<String> row = new ArrayList<>(List.of(shape, what, paper));
    for (String driver : drivers) {
      Optional<Summary> found =
          summaries.stream()
              .filter(s -> s.workload().equals(workload) && s.driver().equals(driver))
              .findFirst();
      row.add(found.map(figure).orElse("-"));
    }
    rows.add(row);
  }
}
