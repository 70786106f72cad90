package io.eventbus.loadtest.run;

import java.util.Collection;
import java.util.List;

/**
 * Times, shortest first.
 *
 * @param millis each of them, in milliseconds
 */
public record Spread(List<Double> millis) {
  /** Nanoseconds of a millisecond. */
  public static final long MILLI = 1_000_000;

  /** None. */
  public static final Spread NONE = new Spread(List.of());

  /** Sorts them. */
  public Spread {
    millis = millis.stream().sorted().toList();
  }

  /** Returns the times of a collection. */
  public static Spread of(Collection<Double> millis) {
    return new Spread(List.copyOf(millis));
  }

  /**
   * Returns a time that so many of all took no longer than.
   *
   * @param percent 0 to 100; 100 for the longest
   * @return milliseconds, -1 if there are none
   */
  public double at(double percent) {
    if (millis.isEmpty()) {
      return -1;
    }
    int rank = (int) Math.ceil(percent / 100 * millis.size());
    return millis.get(Math.max(1, rank) - 1);
  }
}
