package io.eventbus.loadtest.report;

import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.workload.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The page with plots: one file that needs nothing else, in light and dark. */
public final class HtmlReport {
  private HtmlReport() {}

  /**
   * Writes the page.
   *
   * @param file takes the HTML
   * @param report what was found
   * @throws IOException if it cannot be written
   */
  public static void write(Path file, Report report) throws IOException {
    Files.writeString(file, page(report));
  }

  static String page(Report report) {
    List<String> drivers = report.results().stream().map(RunResult::driver).distinct().toList();
    StringBuilder out = new StringBuilder(new Page("Load test", drivers.size()).text());
    out.append("<p>");
    out.append(Svg.escape(report.startedAt() + " · " + report.machine())).append("</p>\n");
    out.append("<p>Systems: ").append(Svg.escape(report.systems())).append(".</p>\n");
    out.append("<p>Each figure is the median of the runs; in the plots a dot is one run. ");
    out.append("Latency counts from the moment at which an event was due. Servers and clients ");
    out.append("shared the machine.</p>\n");
    absent(out, report);
    rows(out, "Targets", ResultTable.targets(report));
    rows(out, "Idle connections", ResultTable.idle(report));
    rows(out, "The paper's figures", PaperTable.rows(report));
    rows(out, ResultTable.FEDERATION, FederationTable.rows(report));
    for (Workload workload : report.workloads()) {
      workload(out, report, workload, drivers);
    }
    return out.append("</html>\n").toString();
  }

  private static void rows(StringBuilder out, String title, List<List<String>> rows) {
    if (rows.size() < 2) {
      return;
    }
    out.append("<h2>").append(title).append("</h2>\n<div class=\"wide\"><table>\n");
    String cell = "<th>";
    for (List<String> row : rows) {
      out.append("<tr>");
      for (String text : row) {
        boolean bad = text.equals(Target.Verdict.MISSED.toString());
        out.append(bad ? "<td class=\"bad\">" : cell).append(Svg.escape(text));
      }
      out.append("</tr>\n");
      cell = "<td>";
    }
    out.append("</table></div>\n");
  }

  private static void absent(StringBuilder out, Report report) {
    if (report.absent().isEmpty()) {
      return;
    }
    out.append("<p>Not measured:</p>\n<ul>\n");
    report
        .absent()
        .forEach(
            absent -> {
              String line = absent.driver() + ": " + absent.reason();
              out.append("<li>").append(Svg.escape(line)).append("</li>\n");
            });
    out.append("</ul>\n");
  }

  private static void workload(
      StringBuilder out, Report report, Workload workload, List<String> all) {
    List<RunResult> results =
        report.results().stream().filter(r -> r.workload().equals(workload.name())).toList();
    List<Summary> summaries =
        report.summaries().stream().filter(s -> s.workload().equals(workload.name())).toList();
    out.append("<h2>").append(Svg.escape(workload.name())).append("</h2>\n<p>");
    out.append(Svg.escape(describe(workload))).append("</p>\n");
    if (results.isEmpty()) {
      out.append("<p>No run.</p>\n");
      return;
    }
    if (workload.idle() > 0) {
      problems(out, results);
      out.append("<h3>Resident memory for each connection, KiB</h3>\n");
      out.append(
          Charts.bars(
              "Resident memory for each connection",
              all,
              results,
              driver -> median(summaries, driver, Summary::idleRssBytes),
              r -> r.idle() == null ? 0 : r.idle().rssBytesEach(),
              Figures::kibibytes));
      return;
    }
    table(out, summaries);
    problems(out, results);
    out.append("<h3>Deliveries per second</h3>\n");
    out.append(
        Charts.bars(
            "Deliveries per second",
            all,
            results,
            driver -> median(summaries, driver, Summary::deliveredPerSecond),
            RunResult::deliveredPerSecond,
            Figures::rate));
    out.append("<h3>CPU time of the server for one delivery, µs</h3>\n");
    out.append(
        Charts.bars(
            "CPU time of the server for one delivery",
            all,
            results,
            driver -> median(summaries, driver, Summary::serverCpuMicros),
            RunResult::serverCpuMicrosPerDelivery,
            Figures::micros));
    out.append("<h3>Latency</h3>\n").append(Charts.latency(all, results));
    out.append("<h3>Over time</h3>\n").append(Charts.timeline(all, results));
  }

  private static double median(
      List<Summary> summaries, String driver, java.util.function.ToDoubleFunction<Summary> figure) {
    return summaries.stream()
        .filter(s -> s.driver().equals(driver))
        .mapToDouble(figure)
        .findFirst()
        .orElse(0);
  }

  private static String describe(Workload w) {
    if (w.idle() > 0) {
      return w.description() + ": " + w.idle() + ".";
    }
    String rate = w.rate() == 0 ? "as fast as possible" : w.rate() + " events/s";
    String window = w.window() == 0 ? "no window" : "window " + w.window();
    return String.format(
        "%s. Publishers %d, subscribers %d, topics %d, payload %d B, %s, %s.",
        w.description(),
        w.publishers(),
        w.subscribers(),
        w.topics(),
        w.payloadBytes(),
        rate,
        window);
  }

  private static void table(StringBuilder out, List<Summary> summaries) {
    out.append("<div class=\"wide\"><table>\n<tr><th>driver<th>runs<th>published/s<th>");
    out.append("delivered/s<th>p50 µs<th>p99 µs<th>p99.9 µs<th>server µs/delivery<th>");
    out.append("client µs/delivery<th>server RSS MiB<th>lost/doubled/reordered</tr>\n");
    for (Summary s : summaries) {
      out.append("<tr><td>").append(Svg.escape(s.driver() + " " + s.version()));
      for (String cell :
          List.of(
              s.runs() + (s.failed() == 0 ? "" : " of " + (s.runs() + s.failed())),
              Figures.rate(s.publishedPerSecond()),
              Figures.rate(s.deliveredPerSecond()),
              Figures.micros(s.p50()),
              Figures.micros(s.p99()),
              Figures.micros(s.p999()),
              Figures.micros(s.serverCpuMicros()),
              Figures.micros(s.clientCpuMicros()),
              Figures.mebibytes(s.serverRssBytes()))) {
        out.append("<td>").append(cell);
      }
      boolean whole = s.integrity().whole() && s.allowedLost() == 0;
      out.append(whole ? "<td>" : "<td class=\"bad\">");
      out.append(s.verdict()).append("</tr>\n");
    }
    out.append("</table></div>\n");
  }

  private static void problems(StringBuilder out, List<RunResult> results) {
    for (RunResult result : results) {
      if (result.problem() != null) {
        String line = result.driver() + ", run " + result.run() + ": " + result.problem();
        out.append("<p class=\"bad\">").append(Svg.escape(line)).append("</p>\n");
      }
    }
  }
}
