package io.eventbus.client;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
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
 * @param producer name by which the bus knows repetitions, whichever client publishes them and
 *     whenever: an event with a name and a number is stored once. 1 to 63 bytes of UTF-8, by the
 *     rules of topics and without a slash; publishing under another one throws {@link
 *     EventBusException.IllegalTopic}. Empty (the default) for the client itself, which numbers its
 *     events and is forgotten when its program ends
 * @param number of the event, 1 or more; 0 without a {@code producer}. Ascending for each name and
 *     topic, best without gaps: a number that was left out is refused later with {@link
 *     ErrorCode#SEQUENCE_GAP}
 */
public record PublishOptions(
    OptionalLong expected, Duration delay, Duration ttl, Optional<String> producer, long number) {
  // Before the first options are checked.
  private static final Duration MAX = Duration.ofDays(3650);
  // The bus wants room behind it for the numbers of a whole frame.
  private static final long MAX_NUMBER = Long.MAX_VALUE - (1 << 16) - 1;

  /** Options that ask for nothing. */
  public static final PublishOptions DEFAULT =
      new PublishOptions(OptionalLong.empty(), Duration.ZERO, Duration.ZERO, Optional.empty(), 0);

  /**
   * Checks the parts.
   *
   * @param expected as above
   * @param delay as above
   * @param ttl as above
   * @param producer as above
   * @param number as above
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
    checkNumber(Objects.requireNonNull(producer, "producer").isPresent(), number);
  }

  private static void checkNumber(boolean named, long number) {
    if (!named && number != 0) {
      throw new IllegalArgumentException("number: " + number + " (expected: 0 without a producer)");
    }
    if (named && (number < 1 || number > MAX_NUMBER)) {
      throw new IllegalArgumentException(
          "number: " + number + " (expected: 1 to " + MAX_NUMBER + ")");
    }
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
   * Returns options for an event that is stored once, however often and by whichever client it is
   * published.
   *
   * @param name of the producer
   * @param number of the event
   * @return new options
   */
  public static PublishOptions producer(String name, long number) {
    return DEFAULT.withProducer(name, number);
  }

  /**
   * Returns options with another expectation.
   *
   * @param position position of the topic's last event, or 0 if the topic has to be empty
   * @return new options
   */
  public PublishOptions withExpected(long position) {
    return new PublishOptions(OptionalLong.of(position), delay, ttl, producer, number);
  }

  /**
   * Returns options with another delay.
   *
   * @param newDelay in whole milliseconds, rounded up
   * @return new options
   */
  public PublishOptions withDelay(Duration newDelay) {
    return new PublishOptions(expected, newDelay, ttl, producer, number);
  }

  /**
   * Returns options with another time to live.
   *
   * @param newTtl in whole milliseconds, rounded up
   * @return new options
   */
  public PublishOptions withTtl(Duration newTtl) {
    return new PublishOptions(expected, delay, newTtl, producer, number);
  }

  /**
   * Returns options with another producer.
   *
   * @param name of the producer
   * @param newNumber of the event
   * @return new options
   */
  public PublishOptions withProducer(String name, long newNumber) {
    return new PublishOptions(expected, delay, ttl, Optional.of(name), newNumber);
  }
}
