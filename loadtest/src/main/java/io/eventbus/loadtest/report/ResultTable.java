package io.eventbus.loadtest.report;

import java.util.ArrayList;
import java.util.Arrays;
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
  private static final int TEXT_COLUMNS = 2;

  private ResultTable() {}

  /**
   * Writes the table.
   *
   * @param report what was found
   * @return lines of text, each ended
   */
  public static String of(Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEAD);
    report.summaries().forEach(summary -> rows.add(row(summary)));
    StringBuilder out = new StringBuilder();
    int[] widths = widths(rows);
    for (int i = 0; i < rows.size(); i++) {
      line(out, rows.get(i), widths);
      if (i == 0) {
        rule(out, widths);
      }
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
    return out.toString();
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

  private static int[] widths(List<List<String>> rows) {
    int[] widths = new int[HEAD.size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    return widths;
  }

  private static void line(StringBuilder out, List<String> row, int[] widths) {
    for (int i = 0; i < widths.length; i++) {
      String cell = row.get(i);
      String padding = " ".repeat(widths[i] - cell.length());
      out.append(i == 0 ? "" : "  ");
      out.append(i < TEXT_COLUMNS ? cell + padding : padding + cell);
    }
    out.append('\n');
  }

  private static void rule(StringBuilder out, int[] widths) {
    int total = Arrays.stream(widths).sum() + 2 * (widths.length - 1);
    out.append("-".repeat(total)).append('\n');
  }
}
