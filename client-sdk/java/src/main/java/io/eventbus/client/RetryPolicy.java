package io.eventbus.client;

import java.time.Duration;

/**
 * Policy for sending a failed request again, within its time-out. Only failures that are {@link
 * EventBusException.CallFailed#retryable} are retried: the request was not executed, or perhaps,
 * and it is idempotent.
 *
 * <p>By default a request is sent again, as often as its time-out allows, when it was refused and
 * not executed and the refusal names a time after which another attempt may be worth it ({@link
 * EventBusException.CallFailed#retryAfter}); an idempotent one also as {@link #STANDARD} says.
 * {@link #NONE} stands for no repetition at all.
 *
 * <p>The pause before an attempt is {@code initialDelay * multiplier^(try - 1)}, at most {@code
 * maxDelay}, less a random part of it, and never shorter than the bus or the member asks for.
 *
 * @param attempts the total number of attempts; 1 for no retry
 * @param initialDelay before the first repetition
 * @param maxDelay the longest pause
 * @param multiplier from one pause to the next, 1 to 10
 * @param jitter the maximum random part by which a pause is shortened, 0 to 1
 */
public record RetryPolicy(
    int attempts, Duration initialDelay, Duration maxDelay, double multiplier, double jitter) {
  /** Policy that never sends again. */
  public static final RetryPolicy NONE =
      new RetryPolicy(1, Duration.ofMillis(50), Duration.ofSeconds(2), 2, 0.5);

  /** Policy of three attempts in all: 50 ms and 100 ms apart, less up to half of that. */
  public static final RetryPolicy STANDARD =
      new RetryPolicy(3, Duration.ofMillis(50), Duration.ofSeconds(2), 2, 0.5);

  /**
   * Checks the parts.
   *
   * @param attempts as above
   * @param initialDelay as above
   * @param maxDelay as above
   * @param multiplier as above
   * @param jitter as above
   * @throws IllegalArgumentException if one is out of range, saying which
   */
  public RetryPolicy {
    Checks.range("attempts", attempts, 1, 1_000);
    Checks.range("initialDelay", initialDelay, Duration.ofMillis(1), Duration.ofMinutes(10));
    Checks.range("maxDelay", maxDelay, initialDelay, Duration.ofMinutes(10));
    if (!(multiplier >= 1 && multiplier <= 10)) {
      throw new IllegalArgumentException("multiplier: " + multiplier + " (expected: 1..10)");
    }
    if (!(jitter >= 0 && jitter <= 1)) {
      throw new IllegalArgumentException("jitter: " + jitter + " (expected: 0..1)");
    }
  }

  /**
   * Returns the pause before a repetition.
   *
   * @param repetition 1 for the first
   * @param random a random number, from 0 (inclusive) to 1 (exclusive)
   * @return how long to wait
   */
  public Duration delay(int repetition, double random) {
    Checks.range("repetition", repetition, 1, Integer.MAX_VALUE);
    double full =
        Math.min(
            (double) maxDelay.toNanos(),
            (double) initialDelay.toNanos() * Math.pow(multiplier, repetition - 1.0));
    return Duration.ofNanos((long) (full * (1 - jitter * random)));
  }
}
