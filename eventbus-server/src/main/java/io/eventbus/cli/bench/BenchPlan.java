package io.eventbus.cli.bench;

import io.eventbus.client.Overflow;
import java.time.Duration;

/**
 * What is measured.
 *
 * @param subscribers connections that subscribe, 1 to 1,000; one more publishes
 * @param payloadBytes of each event, 16 bytes to 1 MiB
 * @param rate events per second, evenly spread; 0 for as fast as possible
 * @param warmUp how long events flow before anything is recorded, up to 10 minutes
 * @param duration of the measured part, 100 ms to 1 hour
 * @param inFlight events that are published and not confirmed at most, of 16 MiB together
 * @param overflow what the bus does when a subscriber is too slow
 */
public record BenchPlan(
    int subscribers,
    int payloadBytes,
    long rate,
    Duration warmUp,
    Duration duration,
    int inFlight,
    Overflow overflow) {
  /** The number and the due time of an event. */
  static final int LEAST_PAYLOAD = 2 * Long.BYTES;

  private static final int MOST_SUBSCRIBERS = 1_000;
  private static final int MOST_PAYLOAD = 1 << 20;
  private static final long MOST_RATE = 10_000_000;
  private static final Duration LONGEST_WARM_UP = Duration.ofMinutes(10);
  private static final Duration SHORTEST = Duration.ofMillis(100);
  private static final Duration LONGEST = Duration.ofHours(1);
  private static final int MOST_IN_FLIGHT = 100_000;
  private static final long MOST_BYTES = 16L << 20;
  private static final int USUAL_IN_FLIGHT = 1_000;

  /** Checks the parts, which have the names of the command line's options. */
  public BenchPlan {
    require("--subscribers", subscribers, 1, MOST_SUBSCRIBERS);
    require("--payload", payloadBytes, LEAST_PAYLOAD, MOST_PAYLOAD);
    require("--rate", rate, 0, MOST_RATE);
    require("--warm-up", warmUp, Duration.ZERO, LONGEST_WARM_UP);
    require("--duration", duration, SHORTEST, LONGEST);
    require("--in-flight", inFlight, 1, MOST_IN_FLIGHT);
    if ((long) inFlight * payloadBytes > MOST_BYTES) {
      throw new IllegalArgumentException(
          "--in-flight: "
              + inFlight
              + " events of "
              + payloadBytes
              + " bytes (expected: at most "
              + MOST_BYTES
              + " bytes together)");
    }
  }

  /**
   * Says how many events are in flight where no other number is asked for.
   *
   * @param payloadBytes of each event
   * @return 1 to 1,000
   */
  public static int usualInFlight(int payloadBytes) {
    return (int) Math.max(1, Math.min(USUAL_IN_FLIGHT, MOST_BYTES / Math.max(1, payloadBytes)));
  }

  private static void require(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + least + " to " + most + ")");
    }
  }

  private static void require(String name, Duration value, Duration least, Duration most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          name
              + ": "
              + value.toMillis()
              + " ms (expected: "
              + least.toMillis()
              + " to "
              + most.toMillis()
              + " ms)");
    }
  }
}
