package io.eventbus.cli.bench;

/** Latency from the due time of an event until the subscriber's handler had it, in microseconds. */
public record LatencyFigures(
    long count, double mean, double p50, double p90, double p99, double p999, double max) {
  /** Figures without any latency. */
  static final LatencyFigures NONE = new LatencyFigures(0, 0, 0, 0, 0, 0, 0);
}
