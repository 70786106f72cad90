package io.eventbus.loadtest.run;

import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Latencies from the moment at which each event was due until its handler was called, in
 * microseconds.
 */
public record LatencySummary(
    long count,
    double mean,
    double p50,
    double p90,
    double p99,
    double p999,
    double p9999,
    double max,
    List<Point> curve) {
  /** Nothing was recorded. */
  public static final LatencySummary NONE = new LatencySummary(0, 0, 0, 0, 0, 0, 0, 0, List.of());

  private static final double NANOS = 1000;
  private static final int CURVE_STEPS_PER_HALF_DISTANCE = 3;

  /** Takes a copy of the curve. */
  public LatencySummary {
    curve = List.copyOf(curve);
  }

  /**
   * Point of a distribution.
   *
   * @param percentile 0 to 100
   * @param micros as many percent took no longer than this
   */
  public record Point(double percentile, double micros) {}

  /**
   * Sums up a histogram.
   *
   * @param nanos in nanoseconds
   */
  public static LatencySummary of(Histogram nanos) {
    if (nanos.getTotalCount() == 0) {
      return NONE;
    }
    List<Point> curve = new ArrayList<>();
    nanos
        .percentiles(CURVE_STEPS_PER_HALF_DISTANCE)
        .forEach(
            v ->
                curve.add(
                    new Point(v.getPercentileLevelIteratedTo(), v.getValueIteratedTo() / NANOS)));
    return new LatencySummary(
        nanos.getTotalCount(),
        nanos.getMean() / NANOS,
        nanos.getValueAtPercentile(50) / NANOS,
        nanos.getValueAtPercentile(90) / NANOS,
        nanos.getValueAtPercentile(99) / NANOS,
        nanos.getValueAtPercentile(99.9) / NANOS,
        nanos.getValueAtPercentile(99.99) / NANOS,
        nanos.getMaxValue() / NANOS,
        curve);
  }
}
