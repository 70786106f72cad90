package io.eventbus.client.internal.base;

import java.time.Duration;

/** Durations that applications give, in nanoseconds; "for ever" is one of them. */
public final class Nanos {
  /** Duration of about seventy years, which is as good as for ever and can be added to a time. */
  private static final Duration EVER = Duration.ofNanos(Long.MAX_VALUE / 4);

  private Nanos() {}

  /** Returns the duration in nanoseconds, limited to the range from 0 to about seventy years. */
  public static long of(Duration duration) {
    if (duration.isNegative()) {
      return 0;
    }
    return duration.compareTo(EVER) < 0 ? duration.toNanos() : EVER.toNanos();
  }
}
