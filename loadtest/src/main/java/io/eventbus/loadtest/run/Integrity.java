package io.eventbus.loadtest.run;

/**
 * Faults of events, counted one by one over a whole run, warm-up included.
 *
 * @param reordered events that came after a later one of the same publisher and topic
 * @param foreign events that nobody sent to this subscriber, or not with this payload
 */
public record Integrity(long lost, long doubled, long reordered, long foreign) {
  /** Nothing went wrong. */
  public static final Integrity WHOLE = new Integrity(0, 0, 0, 0);

  /**
   * Returns whether nothing went wrong.
   *
   * @return true if every count is 0
   */
  public boolean whole() {
    return equals(WHOLE);
  }

  /** Adds counts. */
  public Integrity plus(Integrity other) {
    return new Integrity(
        lost + other.lost,
        doubled + other.doubled,
        reordered + other.reordered,
        foreign + other.foreign);
  }

  /**
   * Returns what was counted since an earlier time.
   *
   * @param before the counts at that time
   */
  public Integrity minus(Integrity before) {
    return new Integrity(
        lost - before.lost,
        doubled - before.doubled,
        reordered - before.reordered,
        foreign - before.foreign);
  }

  @Override
  public String toString() {
    return lost + "/" + doubled + "/" + reordered + (foreign == 0 ? "" : "/" + foreign);
  }
}
