package io.eventbus.loadtest.report;

import io.eventbus.loadtest.run.MoveFigures;
import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.workload.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** The page with plots: one file that needs nothing else, in light and dark. */
public final class HtmlReport {
  private static final int TARGET_TEXTS = 2;
  private static final double KIBIBYTE = 1024;

  private HtmlReport() {}

  /**
   * Writes the page.
   *
   * @throws IOException if it cannot be written
   */
  public static void write(Path file, Report report) throws IOException {
    WholeFile.write(file, page(report));
  }

  static String page(Report report) {
    List<String> drivers = report.results().stream().map(RunResult::driver).distinct().toList();
    Page page = new Page("Load test");
    page.paragraph(report.startedAt() + " · " + report.machine());
    if (!report.command().isEmpty()) {
      page.paragraph(report.command());
    }
    page.paragraph("Systems: " + String.join(", ", report.systems()) + ".");
    page.paragraph(
        "Each figure is the median of the runs; in the plots a bar is the median and a dot is a"
            + " run. Latency counts from the moment at which an event was due. Servers and clients"
            + " shared the machine.");
    if (!report.unfinished().isEmpty()) {
      page.bad(report.unfinished());
    }
    report.absent().forEach(a -> page.bad(a.driver() + ": absent: " + a.reason()));
    targets(page, report);
    for (Section section : ResultTable.sections(report)) {
      if (section.rows().size() > 1) {
        page.section(section);
      }
    }
    for (Workload workload : report.workloads()) {
      workload(page, report, workload, drivers);
    }
    return page.end();
  }

  private static void targets(Page page, Report report) {
    List<List<String>> measured = ResultTable.measuredTargets(report);
    List<List<String>> others = ResultTable.otherTargets(report);
    page.heading("Targets");
    if (measured.size() > 1) {
      page.rows(measured, TARGET_TEXTS);
    }
    if (others.size() > 1) {
      page.folded(others.size() - 1 + " targets were not measured", others, TARGET_TEXTS);
    }
  }

  private static void workload(Page page, Report report, Workload workload, List<String> all) {
    List<RunResult> results =
        report.results().stream().filter(r -> r.workload().equals(workload.name())).toList();
    List<Summary> summaries =
        report.summaries().stream().filter(s -> s.workload().equals(workload.name())).toList();
    page.heading(workload.name());
    page.paragraph(describe(workload));
    if (results.isEmpty()) {
      page.paragraph("No run.");
      return;
    }
    @Nullable MoveFigures moves = results.get(0).moves();
    if (moves != null) {
      problems(page, results);
      page.picture(MoveTable.chart(moves));
      return;
    }
    if (workload.idle() > 0) {
      problems(page, results);
      page.subheading("Resident memory for each connection, KiB");
      page.picture(
          Charts.bars(
              "Resident memory for each connection",
              all,
              results,
              driver -> median(summaries, driver, Summary::idleRssBytes) / KIBIBYTE,
              r -> r.idle() == null ? 0 : r.idle().rssBytesEach() / KIBIBYTE));
      return;
    }
    table(page, summaries);
    problems(page, results);
    page.subheading("Deliveries per second");
    page.picture(
        Charts.bars(
            "Deliveries per second",
            all,
            results,
            driver -> median(summaries, driver, Summary::deliveredPerSecond),
            RunResult::deliveredPerSecond));
    page.subheading("CPU time of the server for one delivery, µs");
    page.picture(
        Charts.bars(
            "CPU time of the server for one delivery",
            all,
            results,
            driver -> median(summaries, driver, Summary::serverCpuMicros),
            RunResult::serverCpuMicrosPerDelivery));
    page.subheading("Latency");
    page.picture(Charts.latency(all, results));
    page.subheading("Over time");
    page.picture(Charts.timeline(all, results));
  }

  private static double median(
      List<Summary> summaries, String driver, ToDoubleFunction<Summary> figure) {
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
    if (w.registers() != null || w.durable() != null || w.name().startsWith("switch/")) {
      return w.description() + ".";
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

  private static void table(Page page, List<Summary> summaries) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "driver",
            "runs",
            "published/s",
            "delivered/s",
            "p50 µs",
            "p99 µs",
            "p99.9 µs",
            "server µs/delivery",
            "client µs/delivery",
            "server RSS MiB",
            "lost/doubled/reordered"));
    Set<String> bad = new HashSet<>();
    for (Summary s : summaries) {
      rows.add(
          List.of(
              s.driver() + " " + s.version(),
              s.runs() + (s.failed() == 0 ? "" : " of " + (s.runs() + s.failed())),
              Figures.rate(s.publishedPerSecond()),
              Figures.rate(s.deliveredPerSecond()),
              Figures.micros(s.p50()),
              Figures.micros(s.p99()),
              Figures.micros(s.p999()),
              Figures.micros(s.serverCpuMicros()),
              Figures.micros(s.clientCpuMicros()),
              Figures.mebibytes(s.serverRssBytes()),
              s.verdict()));
      if (!s.integrity().whole() || s.allowedLost() > 0) {
        bad.add(s.verdict());
      }
    }
    page.rows(rows, 1, bad);
  }

  private static void problems(Page page, List<RunResult> results) {
    for (RunResult result : results) {
      if (result.problem() != null) {
        page.bad(result.driver() + ", run " + result.run() + ": " + result.problem());
      }
    }
  }
}
