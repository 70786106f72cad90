package io.eventbus.server.transport;

import java.util.concurrent.TimeUnit;

/**
 * How fast one client takes what it is sent: so that where memory is short a client that takes
 * nothing goes before one that reads. Looked at ten times a second; confined to the connection's
 * loop.
 */
final class WriteProgress {
  /** The least that counts as reading: 128 KiB in ten seconds, as the protocol promises. */
  private static final long MIN_BYTES_PER_SECOND = 128 * 1024 / 10;

  private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final double NANOS = 1e9;

  private long lookedAt;
  private long takenBefore;
  private double bytesPerSecond;
  private boolean looked;
  private long readsSince;

  /**
   * Begins to look.
   *
   * @param taken bytes that the network has taken since the beginning
   */
  WriteProgress(long taken, long nowNanos) {
    takenBefore = taken;
    lookedAt = nowNanos;
    readsSince = nowNanos;
  }

  /**
   * Looks again.
   *
   * @param taken bytes that the network has taken since the beginning
   */
  void look(long taken, boolean waits, long nowNanos) {
    double seconds = (nowNanos - lookedAt) / NANOS;
    if (seconds <= 0) {
      return;
    }
    double now = Math.max(0, taken - takenBefore) / seconds;
    bytesPerSecond = looked ? (bytesPerSecond + now) / 2 : now;
    looked = true;
    takenBefore = taken;
    lookedAt = nowNanos;
    if (!waits || now >= MIN_BYTES_PER_SECOND) {
      readsSince = nowNanos;
    }
  }

  /** Whether something has waited for a second without being read. */
  boolean isStuck(long nowNanos) {
    return nowNanos - readsSince >= TIMEOUT_NANOS;
  }

  /** How long it takes to take so many bytes, in seconds; 0 while nothing is known. */
  double secondsFor(long bytes) {
    return !looked ? 0 : bytes / Math.max(1, bytesPerSecond);
  }
}
