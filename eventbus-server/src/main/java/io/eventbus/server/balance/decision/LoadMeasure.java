package io.eventbus.server.balance.decision;

import java.time.Duration;

/**
 * Smoothed load, so that a burst of a moment moves no client: an exponential mean, in which a
 * change counts for 63 % after the smoothing time. Samples may come at irregular times. For one
 * thread.
 */
public final class LoadMeasure {
  private final double smoothingNanos;
  private double mean;
  private double last;
  private double beforeLast;
  private long lastNanos;
  private boolean started;

  /** Creates a measure without samples, whose load is 0. */
  public LoadMeasure(Duration smoothing) {
    this.smoothingNanos = smoothing.toNanos();
  }

  /**
   * Adds a sample.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public double add(double sample, long nowNanos) {
    if (!started) {
      started = true;
      mean = sample;
      last = sample;
    } else {
      mean += (sample - mean) * (1 - Math.exp(-(nowNanos - lastNanos) / smoothingNanos));
    }
    lastNanos = nowNanos;
    beforeLast = last;
    last = sample;
    return mean;
  }

  /** Returns the smoothed load; 0 before the first sample. */
  public double load() {
    return mean;
  }

  /**
   * Returns the present load, without the past, but for a burst of a moment: the lesser of the last
   * two samples; 0 before the first one.
   */
  public double recent() {
    return Math.min(last, beforeLast);
  }
}
