package io.eventbus.cli.bench;

import io.eventbus.client.Overflow;
import java.time.Duration;

/**
 * Plan of a measurement.
 *
 * @param payloadBytes of each event, 16 bytes to 1 MiB
 * @param rate events per second, evenly spread; 0 for as fast as possible
 * @param warmUp how long events flow before anything is recorded, up to 10 minutes
 * @param inFlight maximum of events that are published and not confirmed, of 16 MiB together
 */
public record BenchPlan(
    int subscribers,
    int payloadBytes,
    long rate,
    Duration warmUp,
    Duration duration,
    int inFlight,
    Overflow overflow) {
  /** Size of the number and the due time of an event. */
  static final int MIN_PAYLOAD = 2 * Long.BYTES;

  private static final int MAX_SUBSCRIBERS = 1_000;
  private static final int MAX_PAYLOAD = 1 << 20;
  private static final long MAX_RATE = 10_000_000;
  private static final Duration MAX_WARM_UP = Duration.ofMinutes(10);
  private static final Duration MIN_DURATION = Duration.ofMillis(100);
  private static final Duration MAX_DURATION = Duration.ofHours(1);
  private static final int MAX_IN_FLIGHT = 100_000;
  private static final long MAX_BYTES = 16L << 20;
  private static final int USUAL_IN_FLIGHT = 1_000;

  /** Checks the parts, which have the names of the command line's options. */
  public BenchPlan {
    require("--subscribers", subscribers, 1, MAX_SUBSCRIBERS);
    require("--payload", payloadBytes, MIN_PAYLOAD, MAX_PAYLOAD);
    require("--rate", rate, 0, MAX_RATE);
    require("--warm-up", warmUp, Duration.ZERO, MAX_WARM_UP);
    require("--duration", duration, MIN_DURATION, MAX_DURATION);
    require("--in-flight", inFlight, 1, MAX_IN_FLIGHT);
    if ((long) inFlight * payloadBytes > MAX_BYTES) {
      throw new IllegalArgumentException(
          "--in-flight: "
              + inFlight
              + " events of "
              + payloadBytes
              + " bytes (expected: at most "
              + MAX_BYTES
              + " bytes together)");
    }
  }

  /** Returns the default number of events in flight. */
  public static int usualInFlight(int payloadBytes) {
    return (int) Math.max(1, Math.min(USUAL_IN_FLIGHT, MAX_BYTES / Math.max(1, payloadBytes)));
  }

  private static void require(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + min + " to " + max + ")");
    }
  }

  private static void require(String name, Duration value, Duration min, Duration max) {
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          name
              + ": "
              + value.toMillis()
              + " ms (expected: "
              + min.toMillis()
              + " to "
              + max.toMillis()
              + " ms)");
    }
  }
}
