package io.eventbus.server.federation.lane;

import java.util.concurrent.TimeUnit;

/**
 * How long one loop takes in what other buses say of their subscriptions before it does something
 * else: a client of another bus can change thousands at once, and clients here wait for the same
 * loop. Confined to the loop.
 */
final class InterestTurns {
  /** After so much of it there is a pause. */
  static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** How long the pause is. */
  static final int PAUSE_MILLIS = 1;

  private long taken;
  private long goesOnAt;
  private boolean pausing;

  /** Whether more may be taken in now; if not, it is worth asking in {@link #PAUSE_MILLIS}. */
  boolean mayTake(long nowNanos) {
    pausing &= nowNanos - goesOnAt < 0;
    return !pausing;
  }

  /** Counts the time that it took to take a frame in. */
  void took(long beganNanos, long nowNanos) {
    taken += nowNanos - beganNanos;
    if (taken >= TURN_NANOS) {
      taken = 0;
      pausing = true;
      goesOnAt = nowNanos + TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS);
    }
  }
}
