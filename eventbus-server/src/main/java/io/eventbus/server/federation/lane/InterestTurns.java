package io.eventbus.server.federation.lane;

import java.util.concurrent.TimeUnit;

/**
 * Bound of the time in which one loop applies interest of peers before it does something else: a
 * client of a peer can change thousands of subscriptions at once, and clients here wait for the
 * same loop. Confined to the loop.
 */
final class InterestTurns {
  /** Time after which there is a pause. */
  static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Duration of the pause. */
  static final int PAUSE_MILLIS = 1;

  private long spentNanos;
  private long goesOnAt;
  private boolean pausing;

  /** Returns whether more may be applied now; if not, ask again in {@link #PAUSE_MILLIS}. */
  boolean mayTake(long nowNanos) {
    pausing &= nowNanos - goesOnAt < 0;
    return !pausing;
  }

  /** Counts the time that it took to apply a frame. */
  void spent(long beganNanos, long nowNanos) {
    spentNanos += nowNanos - beganNanos;
    if (spentNanos >= TURN_NANOS) {
      spentNanos = 0;
      pausing = true;
      goesOnAt = nowNanos + TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS);
    }
  }
}
