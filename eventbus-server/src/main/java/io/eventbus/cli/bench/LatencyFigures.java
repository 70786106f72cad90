package io.eventbus.cli.bench;

/**
 * Latency from the moment at which an event was due until the subscriber's handler had it, in
 * microseconds.
 *
 * @param count how many were timed
 * @param mean their mean
 * @param p50 half took no longer
 * @param p90 90 % took no longer
 * @param p99 99 % took no longer
 * @param p999 99.9 % took no longer
 * @param max the longest
 */
public record LatencyFigures(
    long count, double mean, double p50, double p90, double p99, double p999, double max) {
  /** Nothing was timed. */
  static final LatencyFigures NONE = new LatencyFigures(0, 0, 0, 0, 0, 0, 0);
}
