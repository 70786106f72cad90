package io.eventbus.loadtest.attack.honest;

import org.HdrHistogram.Histogram;

/**
 * Latency of events in one phase, from the moment at which each was to be sent.
 *
 * @param p50 half took no longer, in milliseconds
 * @param p99 99 % took no longer, in milliseconds
 * @param max the longest, in milliseconds
 */
public record Latency(long count, double p50, double p99, double max) {
  private static final double MILLI = 1e6;

  static Latency of(Histogram nanos) {
    return new Latency(
        nanos.getTotalCount(),
        nanos.getValueAtPercentile(50) / MILLI,
        nanos.getValueAtPercentile(99) / MILLI,
        nanos.getMaxValue() / MILLI);
  }
}
