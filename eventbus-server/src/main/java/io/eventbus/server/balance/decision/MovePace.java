package io.eventbus.server.balance.decision;

/**
 * Rate at which moves may begin: so many a second, and no more than that at once. For one thread.
 */
public final class MovePace {
  private static final double SECOND_NANOS = 1e9;

  private final double perSecond;
  private final double max;
  private double available;
  private long lastNanos;
  private boolean started;

  /**
   * Creates a rate that has not begun.
   *
   * @param perSecond moves a second, more than 0
   * @param atOnce as many, and at least one, may begin together after a while without any
   */
  public MovePace(double perSecond, double atOnce) {
    this.perSecond = perSecond;
    this.max = Math.max(1, atOnce);
  }

  /**
   * Returns how many may begin now.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public int available(long nowNanos) {
    return available(nowNanos, 1);
  }

  /**
   * Returns how many may begin now if there is more hurry than usual.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @param times factor of the rate since the last call, and of the moves at once; at least 1
   */
  public int available(long nowNanos, double times) {
    if (!started) {
      started = true;
      available = max * times;
    } else {
      double more = (nowNanos - lastNanos) / SECOND_NANOS * perSecond * times;
      available = Math.min(max * times, available + more);
    }
    lastNanos = nowNanos;
    return Math.max(0, (int) available);
  }

  /** Notes that some begin. */
  public void take(int moves) {
    available -= moves;
  }
}
