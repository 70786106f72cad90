package io.eventbus.loadtest.coordination.report;

import io.eventbus.loadtest.coordination.run.PhaseResult;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/** The rounds of one cell: the same experiment, servers and clients, for one system. */
record Group(Cell cell, String system, List<PhaseResult> rounds) {
  /** What was done. */
  record Cell(String experiment, int servers, int clients, int inFlight) {}

  private record Key(Cell cell, String system) {}

  static List<Group> of(List<PhaseResult> phases) {
    Map<Key, List<PhaseResult>> groups =
        phases.stream()
            .collect(
                Collectors.groupingBy(
                    p ->
                        new Key(
                            new Cell(p.experiment(), p.servers(), p.clients(), p.inFlight()),
                            p.system()),
                    LinkedHashMap::new,
                    Collectors.toList()));
    return groups.entrySet().stream()
        .map(e -> new Group(e.getKey().cell(), e.getKey().system(), e.getValue()))
        .toList();
  }

  double median(ToDoubleFunction<PhaseResult> figure) {
    return quantile(figure, 0.5);
  }

  double least(ToDoubleFunction<PhaseResult> figure) {
    return rounds.stream().mapToDouble(figure).min().orElse(0);
  }

  double most(ToDoubleFunction<PhaseResult> figure) {
    return rounds.stream().mapToDouble(figure).max().orElse(0);
  }

  /** The middle of two for the median of an even number; otherwise the nearest rank. */
  double quantile(ToDoubleFunction<PhaseResult> figure, double share) {
    double[] sorted = rounds.stream().mapToDouble(figure).sorted().toArray();
    return quantile(sorted, share);
  }

  static double quantile(double[] sorted, double share) {
    if (sorted.length == 0) {
      return 0;
    }
    if (share == 0.5 && sorted.length % 2 == 0) {
      return (sorted[sorted.length / 2 - 1] + sorted[sorted.length / 2]) / 2;
    }
    int rank = (int) Math.ceil(share * sorted.length);
    return sorted[Math.max(0, Math.min(sorted.length, rank) - 1)];
  }

  long sum(ToLongFunction<PhaseResult> figure) {
    return rounds.stream().mapToLong(figure).sum();
  }

  Map<String, Long> errors() {
    Map<String, Long> all = new TreeMap<>();
    rounds.forEach(r -> r.errors().forEach((kind, count) -> all.merge(kind, count, Long::sum)));
    return all;
  }
}
