package io.eventbus.journal.ratis;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Pauses before a shard is opened anew. They double while it fails again and again, also when it
 * could be opened in between, and begin anew when it was ready for a while. Any thread.
 */
final class RestartPause {
  private static final long MIN_MILLIS = 1_000;
  private static final long MAX_MILLIS = 30_000;

  /** Time for which a shard has to be ready before a failure counts as its first. */
  private static final long STABLE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier nanoTime;
  private long millis;
  private boolean ready;
  private long readyNanos;

  RestartPause(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Takes note that the shard is ready. */
  synchronized void ready() {
    ready = true;
    readyNanos = nanoTime.getAsLong();
  }

  /** Returns the pause after a failure, in milliseconds; none after the first. */
  synchronized long next() {
    if (ready && nanoTime.getAsLong() - readyNanos >= STABLE_NANOS) {
      millis = 0;
    }
    ready = false;
    long pause = millis;
    millis = Math.max(MIN_MILLIS, Math.min(2 * millis, MAX_MILLIS));
    return pause;
  }
}
