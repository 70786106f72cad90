package io.eventbus.loadtest.report;

import java.util.ArrayList;
import java.util.List;

/** The table for the terminal: a line for each workload and driver. */
public final class ResultTable {
  private static final List<String> HEAD =
      List.of(
          "workload",
          "driver",
          "runs",
          "deliveries/s",
          "(range)",
          "p50 µs",
          "p99 µs",
          "p99.9 µs",
          "server µs/d",
          "client µs/d",
          "RSS MiB",
          "lost/doubled/reordered");
  static final String FEDERATION = "The figures of the paper on broker federation";
  private static final int TEXT_COLUMNS = 2;
  private static final int ALL_COLUMNS = Integer.MAX_VALUE;

  private ResultTable() {}

  /**
   * Writes the table.
   *
   * @param report what was found
   * @return lines of text, each ended
   */
  public static String of(Report report) {
    StringBuilder out = new StringBuilder();
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEAD);
    report.summaries().stream()
        .filter(summary -> summary.idleConnectsPerSecond() < 0)
        .forEach(summary -> rows.add(row(summary)));
    if (rows.size() > 1) {
      TextTable.write(out, rows, TEXT_COLUMNS);
    }
    report
        .absent()
        .forEach(
            absent ->
                out.append(absent.driver())
                    .append(": absent: ")
                    .append(absent.reason())
                    .append('\n'));
    report.results().stream()
        .filter(result -> result.problem() != null)
        .forEach(
            result ->
                out.append(result.workload())
                    .append(", ")
                    .append(result.driver())
                    .append(", run ")
                    .append(result.run())
                    .append(" failed: ")
                    .append(result.problem())
                    .append('\n'));
    out.append(
        "µs/d: microseconds of CPU time for one delivery; client: publishers and subscribers\n");
    out.append(report.systems()).append("; ").append(report.machine()).append('\n');
    section(out, "Idle connections", idle(report), TEXT_COLUMNS);
    section(out, "The paper's figures", PaperTable.rows(report), 1);
    section(out, FEDERATION, FederationTable.rows(report), TEXT_COLUMNS);
    section(out, "Targets", measuredTargets(report), ALL_COLUMNS);
    return out.toString();
  }

  private static void section(
      StringBuilder out, String title, List<List<String>> rows, int textColumns) {
    if (rows.size() > 1) {
      out.append('\n').append(title).append("\n\n");
      TextTable.write(out, rows, textColumns);
    }
  }

  static List<List<String>> idle(Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of("workload", "driver", "connects/s", "RSS KiB each", "server RSS MiB", "closed"));
    report.summaries().stream()
        .filter(summary -> summary.idleConnectsPerSecond() >= 0)
        .forEach(
            s ->
                rows.add(
                    List.of(
                        s.workload(),
                        s.driver(),
                        Figures.rate(s.idleConnectsPerSecond()),
                        Figures.kibibytes(s.idleRssBytes()),
                        Figures.mebibytes(s.serverRssBytes()),
                        Long.toString(s.integrity().lost()))));
    return rows;
  }

  /** The targets without those of which nothing was measured: the page has them all. */
  private static List<List<String>> measuredTargets(Report report) {
    return targets(report).stream()
        .filter(row -> !row.contains(Target.Verdict.NOT_MEASURED.toString()))
        .toList();
  }

  static List<List<String>> targets(Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("target", "measured", "verdict"));
    for (Target target : report.targets()) {
      rows.add(List.of(target.goal(), target.figure(), target.verdict().toString()));
    }
    return rows;
  }

  private static List<String> row(Summary summary) {
    return List.of(
        summary.workload(),
        summary.driver(),
        summary.failed() == 0
            ? Integer.toString(summary.runs())
            : summary.runs() + " of " + (summary.runs() + summary.failed()),
        Figures.rate(summary.deliveredPerSecond()),
        summary.runs() < 2
            ? ""
            : Figures.rate(summary.deliveredLeast()) + "-" + Figures.rate(summary.deliveredMost()),
        Figures.micros(summary.p50()),
        Figures.micros(summary.p99()),
        Figures.micros(summary.p999()),
        Figures.micros(summary.serverCpuMicros()),
        Figures.micros(summary.clientCpuMicros()),
        Figures.mebibytes(summary.serverRssBytes()),
        summary.verdict());
  }
}
