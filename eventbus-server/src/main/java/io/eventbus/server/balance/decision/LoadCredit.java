package io.eventbus.server.balance.decision;

import java.time.Duration;

/**
 * Load that was moved a moment ago and that the smoothed load does not show yet. It fades as fast
 * as {@link LoadMeasure} comes to show it. For one thread.
 */
public final class LoadCredit {
  private final double smoothingNanos;
  private double amount;
  private long lastNanos;

  /** Creates an empty credit. */
  public LoadCredit(Duration smoothing) {
    this.smoothingNanos = smoothing.toNanos();
  }

  /**
   * Adds load that is moved now.
   *
   * @param load a share of a bus's capacity; less than zero takes back
   * @param nowNanos as {@link System#nanoTime}
   */
  public void add(double load, long nowNanos) {
    amount = Math.max(0, value(nowNanos) + load);
    lastNanos = nowNanos;
  }

  /**
   * Returns the load that the measure does not show yet, as a share of a bus's capacity.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public double value(long nowNanos) {
    return amount * Math.exp(-Math.max(0, nowNanos - lastNanos) / smoothingNanos);
  }
}
