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
import java.util.Locale;

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
    Page page = new Page("Changes of bus", LINES.size());
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
      page.key(LINES);
      String title = result.experiment() + ": milliseconds, by the share that waited no longer";
      LineChart chart = new LineChart(title, "per cent");
      chart.line(0, points(result.switching()));
      chart.line(1, points(result.pauses()));
      chart.line(2, points(result.others()));
      chart.line(3, points(result.still()));
      page.picture(chart.draw());
    }
    return page.end();
  }

  private static List<LineChart.Point> points(Spread spread) {
    List<LineChart.Point> points = new ArrayList<>();
    int count = Math.min(MAX_POINTS, spread.millis().size());
    for (int i = 1; i <= count; i++) {
      double percent = 100.0 * i / count;
      double millis = spread.at(percent);
      String tip =
          i == count || i == (count + 1) / 2
              ? String.format(Locale.ROOT, "%.0f %%: %.2f ms", percent, millis)
              : "";
      points.add(new LineChart.Point(percent, millis, tip));
    }
    return points;
  }
}
