package io.eventbus.loadtest.report;

import io.eventbus.loadtest.run.RunResult;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The plots of one workload: bars with a dot for each run, latency curves, and timelines. */
final class Charts {
  private static final int WIDTH = 720;
  private static final int LEFT = 130;
  private static final int RIGHT = 90;
  private static final int BAR = 26;

  private Charts() {}

  /** Draws a bar for each driver, as long as the median, and a dot for each run. */
  static String bars(
      String title,
      List<String> drivers,
      List<RunResult> results,
      ToDoubleFunction<String> medians,
      ToDoubleFunction<RunResult> figure,
      java.util.function.DoubleFunction<String> format) {
    double most =
        Math.max(
            results.stream().mapToDouble(figure).max().orElse(0),
            drivers.stream().mapToDouble(medians).max().orElse(0));
    double scale = most <= 0 ? 0 : (WIDTH - LEFT - RIGHT) / most;
    Svg svg = new Svg(WIDTH, drivers.size() * BAR + 10, title);
    for (int i = 0; i < drivers.size(); i++) {
      String driver = drivers.get(i);
      double y = 6.0 + i * BAR;
      double median = medians.applyAsDouble(driver);
      svg.text(LEFT - 8.0, y + 14, "name", driver);
      svg.bar(LEFT, y, median * scale, BAR - 8.0, "c" + i, driver + ": " + format.apply(median));
      double far = Math.max(0, median);
      for (RunResult result : results) {
        if (result.driver().equals(driver) && result.problem() == null) {
          double value = figure.applyAsDouble(result);
          far = Math.max(far, value);
          String tip = "run " + result.run() + ": " + format.apply(value);
          svg.dot(LEFT + value * scale, y + (BAR - 8) / 2.0, "dot", tip);
        }
      }
      svg.text(LEFT + far * scale + 8, y + 14, "value", format.apply(median));
    }
    return svg.end();
  }

  /** Draws how latency grows towards the rare cases; both axes are logarithmic. */
  static String latency(List<String> drivers, List<RunResult> results) {
    LineChart chart =
        new LineChart(
            "Latency by percentile",
            "percentile (latency in µs, one line for each run)",
            Axis.nines(),
            Axis.decades());
    for (RunResult result : results) {
      chart.line(
          drivers.indexOf(result.driver()),
          result.latency().curve().stream()
              .map(point -> new LineChart.Point(point.percentile(), point.micros(), ""))
              .toList());
    }
    return chart.draw();
  }

  /** Draws the throughput of every second. */
  static String timeline(List<String> drivers, List<RunResult> results) {
    LineChart chart =
        new LineChart(
            "Deliveries each second",
            "deliveries/s, second by second",
            Axis.whole(LineChart.COLUMNS),
            Axis.linear(LineChart.ROWS));
    for (RunResult result : results) {
      List<Long> each = result.deliveredEachSecond();
      List<LineChart.Point> points = new ArrayList<>();
      for (int i = 0; i < each.size(); i++) {
        String tip =
            each.size() == 1
                ? result.driver() + ", run " + result.run() + ": " + Figures.rate(each.get(i))
                : "";
        points.add(new LineChart.Point(i + 1.0, each.get(i), tip));
      }
      chart.line(drivers.indexOf(result.driver()), points);
    }
    return chart.draw();
  }
}
