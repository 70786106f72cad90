package io.eventbus.server.call.dispatch;

/**
 * Budget of repetitions of a service's calls that were perhaps executed: a part of its requests of
 * the last ten seconds, so that repetitions do not overload a failing service further. As in
 * Finagle, there is a small reserve for services that are called rarely. Confined to a loop.
 */
public final class RetryBudget {
  /** Repetitions that are always allowed, each second and together in a burst. */
  static final int RESERVE_PER_SECOND = 10;

  private static final double WINDOW_NANOS = 10e9;
  private static final long SETTLE_NANOS = 100_000_000;
  private static final double RESERVE = RESERVE_PER_SECOND * WINDOW_NANOS / 1e9;

  private final double perRequest;
  // Between 0 and RESERVE plus what the requests of the last seconds have added.
  private double balance = RESERVE;
  private long at;

  /** Creates a full budget. */
  public RetryBudget(int percent, long nowNanos) {
    this.perRequest = percent / 100.0;
    this.at = nowNanos;
  }

  /** Counts a request. */
  public void onRequest(long nowNanos) {
    if (nowNanos - at >= SETTLE_NANOS) {
      settle(nowNanos);
    }
    balance += perRequest;
  }

  /** Acquires a repetition; returns false if there is none left. */
  public boolean tryAcquire(long nowNanos) {
    settle(nowNanos);
    if (balance < 1) {
      return false;
    }
    balance--;
    return true;
  }

  /** Decays the part from older requests. */
  private void settle(long nowNanos) {
    double left = Math.exp(-(nowNanos - at) / WINDOW_NANOS);
    balance = RESERVE + (balance - RESERVE) * left;
    at = nowNanos;
  }
}
