package io.eventbus.journal;

/**
 * Consecutive positions that a consumer of a shared cursor has taken.
 *
 * @param from the first position, 1 or more
 * @param to the last position
 * @param attempt number of this delivery, 1 for the first
 */
public record TakenRun(long from, long to, int attempt) {
  /** Maximum number of a delivery. */
  public static final int MAX_ATTEMPTS = 1_000;

  /** Returns how many positions they are. */
  public int events() {
    return (int) (to - from + 1);
  }
}
