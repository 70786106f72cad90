package io.eventbus.server.transport;

import java.util.concurrent.TimeUnit;

/**
 * Progress of writing to one client, so that where memory is short a client that takes nothing is
 * evicted before one that reads. Checked ten times a second; confined to the connection's loop.
 */
final class WriteProgress {
  /** Minimum rate that counts as reading: 128 KiB in ten seconds, as the protocol promises. */
  private static final long MIN_BYTES_PER_SECOND = 128 * 1024 / 10;

  private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final double NANOS = 1e9;

  private long lookedAt;
  private long takenBefore;
  private double bytesPerSecond;
  private boolean looked;
  private long readsSince;

  /**
   * Starts measuring.
   *
   * @param taken bytes that the network has taken since the beginning
   */
  WriteProgress(long taken, long nowNanos) {
    takenBefore = taken;
    lookedAt = nowNanos;
    readsSince = nowNanos;
  }

  /**
   * Measures again.
   *
   * @param taken bytes that the network has taken since the beginning
   */
  void update(long taken, boolean waits, long nowNanos) {
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

  /** Returns whether something has waited for a second without being read. */
  boolean isStuck(long nowNanos) {
    return nowNanos - readsSince >= TIMEOUT_NANOS;
  }

  /** Returns the seconds that the client needs for so many bytes; 0 while nothing is known. */
  double secondsFor(long bytes) {
    return !looked ? 0 : bytes / Math.max(1, bytesPerSecond);
  }
}
