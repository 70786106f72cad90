package io.eventbus.loadtest.report;

import io.eventbus.loadtest.driver.Outages;
import io.eventbus.loadtest.run.RunResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** Tables of workloads with registers. */
final class RegisterTable {
  private static final String OWN = "registry";

  private RegisterTable() {}

  /** Returns rows of cells, the first one the head; gaps are the longest of all runs. */
  static List<List<String>> rows(Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "workload",
            "system",
            "runs",
            "per second",
            "(range)",
            "registry to it",
            "p50 µs",
            "p99 µs",
            "server µs/op",
            "longest gap ms",
            "worst client ms",
            "leader changes",
            "late",
            "conflicts",
            "lost",
            "doubled",
            "foreign"));
    for (Summary s : summaries(report)) {
      List<Outages> outages = outages(report, s);
      rows.add(
          List.of(
              s.workload(),
              s.driver(),
              ResultTable.runs(s),
              Figures.rate(s.deliveredPerSecond()),
              ResultTable.range(s),
              ratio(report, s),
              Figures.micros(s.p50()),
              Figures.micros(s.p99()),
              Figures.micros(s.serverCpuMicros()),
              longest(outages, Outages::longestGapMillis),
              longest(outages, Outages::worstClientMillis),
              outages.stream().anyMatch(o -> o.leaderChanges() < 0)
                  ? "?"
                  : sum(outages, Outages::leaderChanges),
              sum(outages, Outages::late),
              sum(outages, Outages::conflicts),
              Long.toString(s.integrity().lost() + s.allowedLost()),
              Long.toString(s.integrity().doubled()),
              Long.toString(s.integrity().foreign())));
    }
    return rows;
  }

  /** Returns rows with the failed attempts; a client that asks the next server itself has fewer. */
  static List<List<String>> attempts(Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("workload", "system", "failed attempts"));
    for (Summary s : summaries(report)) {
      Map<String, Long> all = new TreeMap<>();
      for (Outages outages : outages(report, s)) {
        outages.failedAttempts().forEach((kind, count) -> all.merge(kind, count, Long::sum));
      }
      if (!all.isEmpty()) {
        rows.add(List.of(s.workload(), s.driver(), all.toString()));
      }
    }
    return rows;
  }

  private static List<Summary> summaries(Report report) {
    return report.summaries().stream().filter(s -> report.hasRegisters(s.workload())).toList();
  }

  private static List<Outages> outages(Report report, Summary of) {
    return report.results().stream()
        .filter(r -> r.workload().equals(of.workload()) && r.driver().equals(of.driver()))
        .map(RunResult::outages)
        .filter(Objects::nonNull)
        .toList();
  }

  private static String longest(List<Outages> outages, ToDoubleFunction<Outages> figure) {
    return outages.isEmpty()
        ? ""
        : Figures.millis(outages.stream().mapToDouble(figure).max().orElse(0));
  }

  private static String sum(List<Outages> outages, ToLongFunction<Outages> figure) {
    return Long.toString(outages.stream().mapToLong(figure).sum());
  }

  /** Returns how many times the throughput of another system the registry has. */
  private static String ratio(Report report, Summary other) {
    if (other.driver().equals(OWN) || other.deliveredPerSecond() == 0) {
      return "";
    }
    return report.summaries().stream()
        .filter(s -> s.workload().equals(other.workload()) && s.driver().equals(OWN))
        .filter(s -> s.runs() > 0)
        .map(s -> Figures.ratio(s.deliveredPerSecond() / other.deliveredPerSecond()))
        .findFirst()
        .orElse("");
  }
}
