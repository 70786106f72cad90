package io.eventbus.server.balance.decision;

import java.time.Duration;

/**
 * Detector of overload: it begins when the load has been above one mark for some time, and ends
 * below a lower one. For one thread.
 */
public final class OverloadDetector {
  private final double high;
  private final double low;
  private final long sustainNanos;
  private boolean above;
  private long aboveSince;
  private boolean overloaded;

  /**
   * Creates a detector for a bus that is not overloaded.
   *
   * @param sustain how long the load must have been above
   * @throws IllegalArgumentException if low is not less than high
   */
  public OverloadDetector(double high, double low, Duration sustain) {
    if (low >= high) {
      throw new IllegalArgumentException("low: " + low + " (expected: less than " + high + ")");
    }
    this.high = high;
    this.low = low;
    this.sustainNanos = sustain.toNanos();
  }

  /**
   * Updates the load.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public boolean update(double load, long nowNanos) {
    if (load <= high) {
      above = false;
    } else if (!above) {
      above = true;
      aboveSince = nowNanos;
    }
    if (above && nowNanos - aboveSince >= sustainNanos) {
      overloaded = true;
    } else if (load < low) {
      overloaded = false;
    }
    return overloaded;
  }

  /** Returns what the last {@link #update} found. */
  public boolean isOverloaded() {
    return overloaded;
  }
}
