package io.eventbus.client;

import java.time.Duration;

/**
 * Policy for connecting again after a connection was lost, and perhaps for the first one, too:
 * exponential back-off with jitter.
 *
 * <p>The delay before attempt <i>n</i> is {@code min(maxDelay, initialDelay * multiplier^(n-1))},
 * less a random part of up to {@code jitter} of it, so that many clients do not come back at the
 * same moment. Addresses are tried in turn, the configured ones first. A connection that has held
 * for 5 s starts the count anew; one that was lost sooner makes it smaller, in proportion to its
 * duration.
 *
 * @param initialDelay before the first try: 1 ms to 1 h, default 100 ms
 * @param maxDelay at most: {@code initialDelay} to 1 h, default 10 s
 * @param multiplier from try to try: 1 to 10, default 2
 * @param jitter the random part: 0 to 1, default 0.5
 * @param maxAttempts tries in a row before giving up: 0 for never reconnecting, default {@link
 *     Integer#MAX_VALUE} for ever
 * @param retryFirst whether the first connection is tried again, too, with the same delays and
 *     until the connect time-out is over ({@link ClientBuilder#connectTimeout}); default false:
 *     each address is tried once
 */
public record ReconnectPolicy(
    Duration initialDelay,
    Duration maxDelay,
    double multiplier,
    double jitter,
    int maxAttempts,
    boolean retryFirst) {
  /** Policy of 100 ms, doubled up to 10 s, half of it random, for ever. */
  public static final ReconnectPolicy DEFAULT =
      new ReconnectPolicy(
          Duration.ofMillis(100), Duration.ofSeconds(10), 2, 0.5, Integer.MAX_VALUE);

  /** Policy that closes the client when its connection is lost. */
  public static final ReconnectPolicy NEVER =
      new ReconnectPolicy(Duration.ofMillis(100), Duration.ofSeconds(10), 2, 0.5, 0);

  /**
   * Creates a policy that tries each address once for the first connection.
   *
   * @param initialDelay as above
   * @param maxDelay as above
   * @param multiplier as above
   * @param jitter as above
   * @param maxAttempts as above
   * @throws IllegalArgumentException if one is out of range, saying which
   */
  public ReconnectPolicy(
      Duration initialDelay, Duration maxDelay, double multiplier, double jitter, int maxAttempts) {
    this(initialDelay, maxDelay, multiplier, jitter, maxAttempts, false);
  }

  /**
   * Checks the parts.
   *
   * @param initialDelay as above
   * @param maxDelay as above
   * @param multiplier as above
   * @param jitter as above
   * @param maxAttempts as above
   * @param retryFirst as above
   * @throws IllegalArgumentException if one is out of range, saying which
   */
  public ReconnectPolicy {
    Checks.range("initialDelay", initialDelay, Duration.ofMillis(1), Duration.ofHours(1));
    Checks.range("maxDelay", maxDelay, initialDelay, Duration.ofHours(1));
    Checks.range("maxAttempts", maxAttempts, 0, Integer.MAX_VALUE);
    if (!(multiplier >= 1 && multiplier <= 10)) {
      throw new IllegalArgumentException("multiplier: " + multiplier + " (expected: 1..10)");
    }
    if (!(jitter >= 0 && jitter <= 1)) {
      throw new IllegalArgumentException("jitter: " + jitter + " (expected: 0..1)");
    }
  }

  /**
   * Returns a policy with other behaviour for the first connection: a program that is started
   * before its bus waits for it until the connect time-out is over.
   *
   * @param retry whether it is tried again
   * @return a new policy
   */
  public ReconnectPolicy withRetryFirst(boolean retry) {
    return new ReconnectPolicy(initialDelay, maxDelay, multiplier, jitter, maxAttempts, retry);
  }

  /**
   * Returns the delay before an attempt.
   *
   * @param attempt 1 for the first try after a connection
   * @param random a random number, from 0 (inclusive) to 1 (exclusive)
   * @return how long to wait
   */
  public Duration delay(int attempt, double random) {
    Checks.range("attempt", attempt, 1, Integer.MAX_VALUE);
    double full =
        Math.min(
            (double) maxDelay.toNanos(),
            (double) initialDelay.toNanos() * Math.pow(multiplier, attempt - 1.0));
    return Duration.ofNanos((long) (full * (1 - jitter * random)));
  }
}
