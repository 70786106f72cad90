package io.eventbus.loadtest.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleUnaryOperator;

/**
 * One axis of a chart.
 *
 * @param place where a value lies, from 0 to 1
 */
record Axis(DoubleUnaryOperator place, List<Mark> marks) {
  private static final double MILLION = 1e6;
  private static final double DEEPEST = 99.999;

  /** A labelled place. */
  record Mark(double value, String label) {}

  /** Makes an axis that fits values. */
  @FunctionalInterface
  interface Scale {
    /** Makes it. */
    Axis over(double least, double most);
  }

  /** Returns a scale from zero up, with so many marks or fewer beside zero, at round values. */
  static Scale linear(int marks) {
    return linear(marks, 0);
  }

  /** Returns such a scale for what is counted: marks are at whole numbers. */
  static Scale whole(int marks) {
    return linear(marks, 1);
  }

  private static Scale linear(int marks, double leastStep) {
    return (least, most) -> {
      double step = Math.max(leastStep, roundUp((most > 0 ? most : 1) / marks));
      long steps = Math.max(1, (long) Math.ceil(most / step - 1e-9));
      double end = steps * step;
      int decimals = Math.max(0, (int) -Math.floor(Math.log10(step) + 1e-9));
      List<Mark> all = new ArrayList<>();
      for (long i = 0; i <= steps; i++) {
        double value = i * step;
        String label =
            end >= MILLION
                ? Figures.rate(value)
                : String.format(Locale.ROOT, "%,." + decimals + "f", value);
        all.add(new Mark(value, label));
      }
      return new Axis(value -> value / end, all);
    };
  }

  /** The next of 1, 2, 5, 10, 20, 50 and so on. */
  private static double roundUp(double value) {
    double power = Math.pow(10, Math.floor(Math.log10(value)));
    for (double digit : new double[] {1, 2, 5}) {
      if (value <= digit * power * (1 + 1e-9)) {
        return digit * power;
      }
    }
    return 10 * power;
  }

  /** Returns a logarithmic scale for microseconds, from 1 up. */
  static Scale decades() {
    return (least, most) -> {
      double low = Math.floor(Math.log10(Math.max(1, least)));
      double high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(1, most)) - 1e-9));
      List<Mark> all = new ArrayList<>();
      for (double decade = low; decade <= high; decade++) {
        double value = Math.pow(10, decade);
        all.add(new Mark(value, Figures.micros(value)));
      }
      return new Axis(value -> (Math.log10(Math.max(1, value)) - low) / (high - low), all);
    };
  }

  /** Returns a scale for percentiles on which every nine takes the same room: 0, 90, 99, 99.9. */
  static Scale nines() {
    List<Mark> all = new ArrayList<>();
    for (double mark : new double[] {0, 50, 90, 99, 99.9, 99.99, DEEPEST}) {
      all.add(
          new Mark(
              mark,
              mark == Math.rint(mark) ? Integer.toString((int) mark) : Double.toString(mark)));
    }
    return (least, most) -> new Axis(Axis::nines, all);
  }

  private static double nines(double percentile) {
    return Math.log10(1 - Math.min(percentile, DEEPEST) / 100) / Math.log10(1 - DEEPEST / 100);
  }
}
