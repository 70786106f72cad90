package io.eventbus.server.balance.decision;

/** How many moves may begin: so many a second, and no more than that at once. For one thread. */
public final class MovePace {
  private static final double SECOND_NANOS = 1e9;

  private final double perSecond;
  private final double most;
  private double available;
  private long lastNanos;
  private boolean started;

  /**
   * Makes a pace that has not begun.
   *
   * @param perSecond moves a second, more than 0
   * @param atOnce as many, and at least one, may begin together after a while without any
   */
  public MovePace(double perSecond, double atOnce) {
    this.perSecond = perSecond;
    this.most = Math.max(1, atOnce);
  }

  /**
   * Says how many may begin now.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return 0 or more
   */
  public int available(long nowNanos) {
    return available(nowNanos, 1);
  }

  /**
   * Says how many may begin now where there is more hurry than usual.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @param times so many times the pace since the last call, and as many times at once; at least 1
   * @return 0 or more
   */
  public int available(long nowNanos, double times) {
    if (!started) {
      started = true;
      available = most * times;
    } else {
      double more = (nowNanos - lastNanos) / SECOND_NANOS * perSecond * times;
      available = Math.min(most * times, available + more);
    }
    lastNanos = nowNanos;
    return Math.max(0, (int) available);
  }

  /** Notes that some begin. */
  public void take(int moves) {
    available -= moves;
  }
}
