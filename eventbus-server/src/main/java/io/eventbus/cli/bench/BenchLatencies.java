package io.eventbus.cli.bench;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/** Latencies of events that were due in the measured part. Any thread. */
final class BenchLatencies {
  private static final long MAX_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final int DIGITS = 3;
  private static final double MICRO = 1_000;

  private final Recorder nanos = new Recorder(MAX_NANOS, DIGITS);
  private volatile boolean all;
  private volatile long from = Long.MAX_VALUE;
  private volatile long to = Long.MIN_VALUE;

  /** Sets the measured part; times as {@link System#nanoTime}. */
  void measure(long fromNanos, long toNanos) {
    from = fromNanos;
    to = toNanos;
  }

  /** Measures everything. */
  void measureAll() {
    all = true;
  }

  void record(long due, long now) {
    if (all) {
      nanos.recordValue(Math.min(Math.max(now - due, 0), MAX_NANOS));
      return;
    }
    if (due - from >= 0 && due - to < 0) {
      nanos.recordValue(Math.min(Math.max(now - due, 0), MAX_NANOS));
    }
  }

  /** Returns what was recorded, and forgets it. */
  LatencyFigures take() {
    Histogram taken = nanos.getIntervalHistogram();
    return taken.getTotalCount() == 0
        ? LatencyFigures.NONE
        : new LatencyFigures(
            taken.getTotalCount(),
            taken.getMean() / MICRO,
            taken.getValueAtPercentile(50) / MICRO,
            taken.getValueAtPercentile(90) / MICRO,
            taken.getValueAtPercentile(99) / MICRO,
            taken.getValueAtPercentile(99.9) / MICRO,
            taken.getMaxValue() / MICRO);
  }
}
