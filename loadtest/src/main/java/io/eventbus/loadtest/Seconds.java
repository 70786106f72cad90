package io.eventbus.loadtest;

import java.time.Duration;

/** Times on the command line. */
final class Seconds {
  private Seconds() {}

  /**
   * Turns an option's value into a time.
   *
   * @param seconds what was given
   * @param least that it may be
   * @param most that it may be
   * @return the time, in whole milliseconds
   * @throws IllegalArgumentException if it is out of its range, or not a number
   */
  static Duration of(String option, double seconds, double least, double most) {
    if (!(seconds >= least && seconds <= most)) {
      throw new IllegalArgumentException(
          String.format(
              "%s: %s (expected: %s to %s seconds)",
              option, text(seconds), text(least), text(most)));
    }
    return Duration.ofMillis(Math.round(seconds * 1_000));
  }

  private static String text(double seconds) {
    return seconds == Math.rint(seconds) && Math.abs(seconds) < 1e15
        ? Long.toString((long) seconds)
        : Double.toString(seconds);
  }
}
