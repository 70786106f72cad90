package io.eventbus.journal;

/**
 * Bounds of what a journal keeps; 0 stands for none.
 *
 * @param ageMillis maximum age of an event, in milliseconds of the shard's time
 * @param bytes size of the stored events above which the oldest chunks are removed, or new events
 *     refused
 * @param events number of events above which the same happens
 */
public record Retention(long ageMillis, long bytes, long events) {
  /** Retention without bounds. */
  public static final Retention UNLIMITED = new Retention(0, 0, 0);

  /**
   * Checks the bounds.
   *
   * @param ageMillis milliseconds, at least 0
   * @param bytes at least 0
   * @param events at least 0
   * @throws IllegalArgumentException if a bound is negative
   */
  public Retention {
    check("ageMillis", ageMillis);
    check("bytes", bytes);
    check("events", events);
  }

  private static void check(String name, long value) {
    if (value < 0) {
      throw new IllegalArgumentException(
          "retention." + name + ": " + value + " (expected: >= 0, 0 for no bound)");
    }
  }
}
