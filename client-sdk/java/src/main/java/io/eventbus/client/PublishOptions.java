package io.eventbus.client;

import java.time.Duration;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * Options of an event for a durable topic; immutable. The bus refuses them for any other topic with
 * {@link ErrorCode#NO_JOURNAL}.
 *
 * @param expected position of the topic's last event, or 0 if the topic has to be empty: else the
 *     bus refuses the event with {@link ErrorCode#EXPECTATION_FAILED}. Empty (the default) to
 *     expect nothing
 * @param delay how long the event waits in its journal before it is delivered; zero (the default)
 *     for not at all; at most 3650 days
 * @param ttl how long the event is delivered; zero (the default) for as long as its journal keeps
 *     it; at most 3650 days
 */
public record PublishOptions(OptionalLong expected, Duration delay, Duration ttl) {
  // Before the first options are checked.
  private static final Duration MAX = Duration.ofDays(3650);

  /** Options that ask for nothing. */
  public static final PublishOptions DEFAULT =
      new PublishOptions(OptionalLong.empty(), Duration.ZERO, Duration.ZERO);

  /**
   * Checks the parts.
   *
   * @param expected as above
   * @param delay as above
   * @param ttl as above
   * @throws IllegalArgumentException if one is out of range, saying which
   */
  public PublishOptions {
    Objects.requireNonNull(expected, "expected");
    if (expected.isPresent()
        && (expected.getAsLong() < 0 || expected.getAsLong() == Long.MAX_VALUE)) {
      throw new IllegalArgumentException(
          "expected: " + expected.getAsLong() + " (expected: 0, or a position)");
    }
    check("delay", delay);
    check("ttl", ttl);
  }

  private static void check(String name, Duration time) {
    if (time.isNegative() || time.compareTo(MAX) > 0) {
      throw new IllegalArgumentException(
          name + ": " + time + " (expected: 0 to " + MAX.toDays() + " days)");
    }
  }

  /**
   * Returns options that expect a topic's last event.
   *
   * @param position its position, or 0 if the topic has to be empty
   * @return new options
   */
  public static PublishOptions expecting(long position) {
    return DEFAULT.withExpected(position);
  }

  /**
   * Returns options with another expectation.
   *
   * @param position position of the topic's last event, or 0 if the topic has to be empty
   * @return new options
   */
  public PublishOptions withExpected(long position) {
    return new PublishOptions(OptionalLong.of(position), delay, ttl);
  }

  /**
   * Returns options with another delay.
   *
   * @param newDelay in whole milliseconds, rounded up
   * @return new options
   */
  public PublishOptions withDelay(Duration newDelay) {
    return new PublishOptions(expected, newDelay, ttl);
  }

  /**
   * Returns options with another time to live.
   *
   * @param newTtl in whole milliseconds, rounded up
   * @return new options
   */
  public PublishOptions withTtl(Duration newTtl) {
    return new PublishOptions(expected, delay, newTtl);
  }
}
