package io.eventbus.cli.demo;

import java.time.Duration;

/** Longest time without any confirmation since a moment. Safe for use by several threads. */
final class ConfirmationGap {
  private boolean begun;
  private long lastNanos;
  private long longestNanos;

  /** Begins to measure: the time counts from the last confirmation before this on. */
  synchronized void begin() {
    begun = true;
  }

  synchronized void confirmed(long nowNanos) {
    if (begun) {
      longestNanos = Math.max(longestNanos, nowNanos - lastNanos);
    }
    lastNanos = nowNanos;
  }

  synchronized Duration longest() {
    return Duration.ofNanos(longestNanos);
  }
}
