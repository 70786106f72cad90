package io.eventbus.server.admission;

import java.util.concurrent.TimeUnit;

/**
 * Token bucket for new connections: so many each second on the average of ten. It is kept as the
 * time at which the bucket will be full again (the generic cell rate algorithm of ITU-T I.371), so
 * that nothing has to fill it. Not for several threads at once.
 */
final class HandshakeRate {
  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Cost of one connection; 0 for no limit. */
  private final long nanosEach;

  private long fullAt;

  HandshakeRate(int perSecond, long nowNanos) {
    this.nanosEach = perSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / perSecond;
    this.fullAt = nowNanos;
  }

  boolean mayTake(long nowNanos) {
    return missing(nowNanos) + nanosEach <= WINDOW_NANOS;
  }

  void take(long nowNanos) {
    fullAt = nowNanos + missing(nowNanos) + nanosEach;
  }

  boolean isFull(long nowNanos) {
    return missing(nowNanos) == 0;
  }

  private long missing(long nowNanos) {
    return Math.max(0, fullAt - nowNanos);
  }
}
