package io.eventbus.protocol;

import java.time.Duration;

/** Durations as people read and configure them: 10s, 1500ms, 2m, 1h. Any thread. */
public final class DurationText {
  private static final long MAX_IN_MILLIS = Long.MAX_VALUE / 1000;

  private DurationText() {}

  /**
   * Formats a duration in the biggest unit of which it is a whole number, up to hours; below a
   * millisecond it is rounded up.
   *
   * @param span not negative; from 290 million years on it is "for ever"
   * @return for example 90s
   */
  public static String of(Duration span) {
    if (span.toSeconds() >= MAX_IN_MILLIS) {
      return "for ever";
    }
    long millis = span.plusNanos(999_999).toMillis();
    if (millis % 1000 != 0) {
      return millis + "ms";
    }
    long seconds = millis / 1000;
    if (seconds == 0 || seconds % 60 != 0) {
      return seconds + "s";
    }
    return seconds % 3600 == 0 ? seconds / 3600 + "h" : seconds / 60 + "m";
  }
}
