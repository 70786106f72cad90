package io.eventbus.journal;

/**
 * Settlement of consecutive positions of one run of a consumer.
 *
 * @param from the first position, 1 or more
 * @param to the last position
 * @param attempt the number of the delivery, as in {@link TakenRun#attempt}
 * @param outcome what becomes of the events
 * @param delayMillis time until they are delivered again, of {@link Outcome#RETRY}: at most {@value
 *     #MAX_DELAY_MILLIS}; -1 for the back-off of the attempt
 * @param reason why, of {@link Outcome#REJECT} and {@link Outcome#RETRY}: at most {@value
 *     #MAX_REASON_BYTES} bytes of UTF-8, empty for none
 */
public record Settlement(
    long from, long to, int attempt, Outcome outcome, long delayMillis, String reason) {
  /** Maximum number of settlements that are given together. */
  public static final int MAX_TOGETHER = 1_024;

  /** Maximum delay: seven days, in milliseconds. */
  public static final long MAX_DELAY_MILLIS = 7L * 24 * 60 * 60 * 1000;

  /** Maximum size of a reason, in bytes of UTF-8. */
  public static final int MAX_REASON_BYTES = 256;

  // Times until the next delivery, by the number of the one that has failed; part of the rules.
  private static final long[] BACKOFF_MILLIS = {1_000, 5_000, 30_000, 120_000};

  /**
   * Returns the time until the next delivery, in milliseconds.
   *
   * @param attempt the number of the delivery that has failed
   */
  public static long backOffMillis(int attempt) {
    return BACKOFF_MILLIS[Math.min(attempt, BACKOFF_MILLIS.length) - 1];
  }

  /** Outcome of a delivery. */
  public enum Outcome {
    /** Success: the events never come again. */
    DONE,
    /** Failure: they are delivered again later, or are dead after the last attempt. */
    RETRY,
    /** Refusal: they are dead, and are delivered again only when an operator wants it. */
    REJECT,
    /** Return to the other consumers, which counts as no attempt. */
    RELEASE
  }
}
