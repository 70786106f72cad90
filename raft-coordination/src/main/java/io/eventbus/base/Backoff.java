package io.eventbus.base;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Pauses between failed attempts: each twice as long as the one before, up to a maximum. Jitter
 * keeps those that wait for the same thing from trying together. Not for several threads at once.
 */
public final class Backoff {
  private final long minNanos;
  private final long maxNanos;
  private final double jitter;
  private long pauseNanos;
  private long dueAtNanos;
  private boolean waiting;

  /**
   * Creates a backoff before the first attempt.
   *
   * @param min the first pause
   * @param max the longest pause
   * @param jitter random part of a pause: it takes from a half of its length to that and this part
   *     more
   */
  public Backoff(Duration min, Duration max, double jitter) {
    this.minNanos = min.toNanos();
    this.maxNanos = max.toNanos();
    this.jitter = jitter;
    this.pauseNanos = minNanos;
  }

  /** Returns the next pause, in nanoseconds; the one after it is longer. */
  public long nextNanos(RandomGenerator random) {
    long nanos = pauseNanos / 2 + (long) (random.nextDouble() * jitter * pauseNanos);
    pauseNanos = Math.min(maxNanos, pauseNanos * 2);
    return nanos;
  }

  /**
   * Notes that an attempt has failed: the next one is due after a pause.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public void failed(long nowNanos, RandomGenerator random) {
    waiting = true;
    dueAtNanos = nowNanos + nextNanos(random);
  }

  /** Notes that an attempt has succeeded: the next one is due at once. */
  public void succeeded() {
    waiting = false;
    pauseNanos = minNanos;
  }

  /**
   * Returns whether the next attempt is due.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public boolean isDue(long nowNanos) {
    return !waiting || nowNanos - dueAtNanos >= 0;
  }
}
