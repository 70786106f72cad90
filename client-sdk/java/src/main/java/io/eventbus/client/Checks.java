package io.eventbus.client;

import java.time.Duration;

/** Refuses settings outside their range, naming value and range. */
final class Checks {
  private Checks() {}

  static void range(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + least + ".." + most + ")");
    }
  }

  static void range(String name, Duration value, Duration least, Duration most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + least + ".." + most + ")");
    }
  }
}
