package io.eventbus.loadtest.switching.report;

import io.eventbus.loadtest.report.LineChart;
import io.eventbus.loadtest.report.Page;
import io.eventbus.loadtest.report.WholeFile;
import io.eventbus.loadtest.switching.run.Spread;
import io.eventbus.loadtest.switching.run.SwitchResult;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The page with plots: for each experiment how many clients waited how long. */
public final class SwitchPage {
  private static final List<String> LINES =
      List.of("until there", "pause", "pause of others", "pause without a change");

  /** A line does not become clearer with more points. */
  private static final int MAX_POINTS = 500;

  private SwitchPage() {}

  /**
   * Writes the page.
   *
   * @throws IOException if it cannot be written
   */
  public static void write(Path file, SwitchReport report) throws IOException {
    WholeFile.write(file, page(report));
  }

  static String page(SwitchReport report) {
    Page page = new Page("Changes of bus");
    page.paragraph(report.startedAt() + " · " + report.machine());
    page.paragraph(report.command());
    page.paragraph(
        "Buses, publishers and subscribers share the machine. A pause is the longest time between"
            + " two deliveries to a subscriber, less the interval at which its publisher sends.");
    SwitchTable.sections(report).forEach(page::section);
    for (SwitchResult result : report.results()) {
      page.heading(result.experiment());
      page.paragraph(result.description() + ".");
      if (result.problem() != null) {
        page.bad(result.problem());
      }
      String title = result.experiment() + ": milliseconds, by the share that waited no longer";
      LineChart chart = new LineChart(title, "per cent");
      chart.line(0, LINES.get(0), points(result.switching()));
      chart.line(1, LINES.get(1), points(result.pauses()));
      chart.line(2, LINES.get(2), points(result.others()));
      chart.line(3, LINES.get(3), points(result.still()));
      page.picture(chart.draw());
    }
    return page.end();
  }

  private static List<LineChart.Point> points(Spread spread) {
    List<LineChart.Point> points = new ArrayList<>();
    int count = Math.min(MAX_POINTS, spread.millis().size());
    for (int i = 1; i <= count; i++) {
      double percent = 100.0 * i / count;
      points.add(new LineChart.Point(percent, spread.at(percent)));
    }
    return points;
  }
}
