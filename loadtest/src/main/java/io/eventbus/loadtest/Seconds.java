package io.eventbus.loadtest;

import java.time.Duration;

/** Times on the command line. */
final class Seconds {
  private Seconds() {}

  /**
   * Turns an option's value into a time.
   *
   * @param seconds what was given
   * @param min that it may be
   * @param max that it may be
   * @return the time, in whole milliseconds
   * @throws IllegalArgumentException if it is out of its range, or not a number
   */
  static Duration of(String option, double seconds, double min, double max) {
    if (!(seconds >= min && seconds <= max)) {
      throw new IllegalArgumentException(
          String.format(
              "%s: %s (expected: %s to %s seconds)", option, text(seconds), text(min), text(max)));
    }
    return Duration.ofMillis(Math.round(seconds * 1_000));
  }

  private static String text(double seconds) {
    return seconds == Math.rint(seconds) && Math.abs(seconds) < 1e15
        ? Long.toString((long) seconds)
        : Double.toString(seconds);
  }
}
