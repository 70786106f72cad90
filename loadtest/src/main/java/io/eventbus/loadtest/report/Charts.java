package io.eventbus.loadtest.report;

import io.eventbus.loadtest.run.LatencySummary;
import io.eventbus.loadtest.run.RunResult;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The plots of one workload: bars with a dot for each run, latency curves, and timelines. */
final class Charts {
  private static final int WIDTH = 720;
  private static final int LEFT = 130;
  private static final int RIGHT = 90;
  private static final int BAR = 26;
  private static final int HEIGHT = 260;
  private static final int BOTTOM = 36;
  private static final int TOP = 14;
  private static final int AXIS = 60;
  private static final double DEEPEST = 99.999;

  private Charts() {}

  /**
   * Draws a bar for each driver, as long as the median, and a dot for each run.
   *
   * @param drivers their names, in the order of their colours
   * @param results of one workload
   * @param medians one for each driver
   * @param figure what is drawn
   * @param format writes it
   */
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
      double far = median;
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
    double most = 10;
    double least = Double.MAX_VALUE;
    for (RunResult result : results) {
      for (LatencySummary.Point point : result.latency().curve()) {
        most = Math.max(most, point.micros());
        least = Math.min(least, Math.max(1, point.micros()));
      }
    }
    double low = Math.floor(Math.log10(Math.min(least, most)));
    double high = Math.ceil(Math.log10(most) + 1e-9);
    Svg svg = new Svg(WIDTH, HEIGHT, "Latency by percentile");
    double[] marks = {0, 50, 90, 99, 99.9, 99.99, DEEPEST};
    for (double mark : marks) {
      double x = percentileX(mark);
      svg.line(x, TOP, x, HEIGHT - BOTTOM, "grid");
      svg.text(x, HEIGHT - BOTTOM + 16.0, "tick", mark == 0 ? "0" : percent(mark));
    }
    for (double decade = low; decade <= high; decade++) {
      double y = microsY(Math.pow(10, decade), low, high);
      svg.line(AXIS, y, WIDTH - 20.0, y, "grid");
      svg.text(AXIS - 6.0, y + 4, "name", Figures.micros(Math.pow(10, decade)));
    }
    svg.text(
        WIDTH / 2.0, HEIGHT - 4.0, "tick", "percentile (latency in µs, one line for each run)");
    for (RunResult result : results) {
      StringBuilder points = new StringBuilder();
      for (LatencySummary.Point point : result.latency().curve()) {
        Svg.point(
            points,
            percentileX(Math.min(DEEPEST, point.percentile())),
            microsY(Math.max(1, point.micros()), low, high));
      }
      svg.curve(points, "l" + drivers.indexOf(result.driver()));
    }
    return svg.end();
  }

  /** Draws the throughput of every second. */
  static String timeline(List<String> drivers, List<RunResult> results) {
    int seconds = results.stream().mapToInt(r -> r.deliveredEachSecond().size()).max().orElse(0);
    long most =
        results.stream()
            .flatMap(r -> r.deliveredEachSecond().stream())
            .max(Long::compare)
            .orElse(1L);
    Svg svg = new Svg(WIDTH, HEIGHT, "Deliveries each second");
    for (int step = 0; step <= 4; step++) {
      double y = HEIGHT - BOTTOM - step / 4.0 * (HEIGHT - BOTTOM - TOP);
      svg.line(AXIS, y, WIDTH - 20.0, y, "grid");
      svg.text(AXIS - 6.0, y + 4, "name", Figures.rate(most * step / 4.0));
    }
    svg.text(WIDTH / 2.0, HEIGHT - 4.0, "tick", "deliveries/s over " + seconds + " seconds");
    for (RunResult result : results) {
      StringBuilder points = new StringBuilder();
      List<Long> each = result.deliveredEachSecond();
      for (int i = 0; i < each.size(); i++) {
        Svg.point(
            points,
            AXIS + (WIDTH - 20.0 - AXIS) * i / Math.max(1, seconds - 1),
            HEIGHT - BOTTOM - (double) each.get(i) / Math.max(1, most) * (HEIGHT - BOTTOM - TOP));
      }
      svg.curve(points, "l" + drivers.indexOf(result.driver()));
    }
    return svg.end();
  }

  private static double percentileX(double percentile) {
    // Every nine takes the same room: 0, 90, 99, 99.9 …
    double nines = -Math.log10(1 - percentile / 100);
    return AXIS + nines / -Math.log10(1 - DEEPEST / 100) * (WIDTH - 40 - AXIS);
  }

  private static double microsY(double micros, double low, double high) {
    double share = (Math.log10(micros) - low) / (high - low);
    return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP);
  }

  private static String percent(double mark) {
    return mark == Math.rint(mark) ? Integer.toString((int) mark) : Double.toString(mark);
  }
}
