package io.eventbus.loadtest.report;

import io.eventbus.loadtest.run.RunResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Plots of one workload: bars with a dot for each run, latency curves, and timelines. */
final class Charts {
  /** Percentiles above are drawn at this one. */
  private static final double MAX_PERCENTILE = 99.999;

  private static final double ALL = 100;

  private Charts() {}

  /** Draws a bar for each driver, as high as the median, and a dot for each run. */
  static String bars(
      String title,
      List<String> drivers,
      List<RunResult> results,
      ToDoubleFunction<String> medians,
      ToDoubleFunction<RunResult> figure) {
    CategoryChart chart = new CategoryChart(Plot.WIDTH, Plot.HEIGHT);
    Plot.style(chart);
    chart.getStyler().setOverlapped(true).setAvailableSpaceFill(0.5).setLegendVisible(false);
    List<Double> heights = new ArrayList<>();
    drivers.forEach(driver -> heights.add(Math.max(0, medians.applyAsDouble(driver))));
    chart.addSeries("median", drivers, heights);
    int runs = results.stream().mapToInt(RunResult::run).max().orElse(0);
    for (int run = 1; run <= runs; run++) {
      List<@Nullable Double> dots = new ArrayList<>();
      for (String driver : drivers) {
        dots.add(dot(results, driver, run, figure));
      }
      if (dots.stream().anyMatch(dot -> dot != null)) {
        chart
            .addSeries("run " + run, drivers, dots)
            .setChartCategorySeriesRenderStyle(CategorySeriesRenderStyle.Scatter)
            .setMarker(SeriesMarkers.CIRCLE)
            .setMarkerColor(Plot.INK);
      }
    }
    return Plot.image(chart, title);
  }

  private static @Nullable Double dot(
      List<RunResult> results, String driver, int run, ToDoubleFunction<RunResult> figure) {
    return results.stream()
        .filter(r -> r.driver().equals(driver) && r.run() == run && r.problem() == null)
        .map(r -> Math.max(0, figure.applyAsDouble(r)))
        .findFirst()
        .orElse(null);
  }

  /** Draws how latency grows towards the rare cases; both axes are logarithmic. */
  static String latency(List<String> drivers, List<RunResult> results) {
    LineChart chart =
        new LineChart("Latency by percentile", "percentile (latency in µs, a line for each run)");
    chart.logarithmic(Charts::nines, Charts::percentile);
    for (RunResult result : results) {
      chart.line(
          drivers.indexOf(result.driver()),
          result.driver(),
          result.latency().curve().stream()
              .map(point -> new LineChart.Point(point.percentile(), Math.max(1, point.micros())))
              .toList());
    }
    return chart.draw();
  }

  /** Returns the number of nines of a percentile: 0 for 0, 1 for 90, 2 for 99. */
  static double nines(double percentile) {
    return -Math.log10(1 - Math.min(percentile, MAX_PERCENTILE) / ALL);
  }

  /** Returns the label of a number of nines. */
  static String percentile(double nines) {
    String text = String.format(Locale.ROOT, "%.3f", ALL * (1 - Math.pow(10, -nines)));
    return text.replaceFirst("\\.?0+$", "");
  }

  /** Draws the throughput of every second. */
  static String timeline(List<String> drivers, List<RunResult> results) {
    LineChart chart = new LineChart("Deliveries each second", "deliveries/s, second by second");
    for (RunResult result : results) {
      List<LineChart.Point> points = new ArrayList<>();
      for (long each : result.deliveredEachSecond()) {
        points.add(new LineChart.Point(points.size() + 1.0, each));
      }
      chart.line(drivers.indexOf(result.driver()), result.driver(), points);
    }
    return chart.draw();
  }
}
