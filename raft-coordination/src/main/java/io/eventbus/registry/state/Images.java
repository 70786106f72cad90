package io.eventbus.registry.state;

/** Checks of images that were read: they may be damaged, or made by another program. */
final class Images {
  private Images() {}

  static void range(String field, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          field + ": " + value + " (expected: " + min + " to " + max + ")");
    }
  }

  static void distinct(String field, int distinct, int all) {
    if (distinct != all) {
      throw new IllegalArgumentException(
          field + ": " + distinct + " different ones (expected: " + all + ")");
    }
  }
}
