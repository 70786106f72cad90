package io.eventbus.link;

import java.time.Duration;

/**
 * Bounds of a bus's links.
 *
 * @param maxFrameBytes the largest frame after the handshake, 65,536 to 268,435,456; default 16 MiB
 * @param maxPendingBytes the maximum bytes of calls that one link has under way in one direction,
 *     at least {@code maxFrameBytes}; default 32 MiB
 * @param maxPendingCalls the maximum number of calls that one link has under way in one direction,
 *     1 to 1,000,000; default 16,384
 * @param maxLinks the maximum number of links that others have opened to this bus, 1 to 100,000;
 *     default 32,768: hundreds of buses with a stream for each of their event loops
 * @param maxHandshakes the maximum number of these in their handshake, not authenticated yet, 1 to
 *     100,000; default 4,096
 * @param handshakeDeadline the maximum time for opening a link, 10 ms to 1 minute; default 3 s
 * @param heartbeat time without outbound bytes after which this side sends a heartbeat, 10 ms to 1
 *     minute; default 1 s
 * @param silence time without inbound bytes after which the link counts as dead, at least twice the
 *     heartbeat; default 4 s
 * @param threads the threads that move bytes, 1 to 64; default 2
 */
public record LinkOptions(
    int maxFrameBytes,
    long maxPendingBytes,
    int maxPendingCalls,
    int maxLinks,
    int maxHandshakes,
    Duration handshakeDeadline,
    Duration heartbeat,
    Duration silence,
    int threads) {
  /** Default maximum number of links in their handshake: for a cluster that starts at once. */
  private static final int HANDSHAKES = 512;

  /** Options with all defaults. */
  public static final LinkOptions DEFAULT =
      new LinkOptions(
          16 << 20,
          32L << 20,
          16_384,
          32_768,
          HANDSHAKES,
          Duration.ofSeconds(3),
          Duration.ofSeconds(1),
          Duration.ofSeconds(4),
          2);

  /**
   * Checks the bounds.
   *
   * @param maxFrameBytes as above
   * @param maxPendingBytes as above
   * @param maxPendingCalls as above
   * @param maxLinks as above
   * @param maxHandshakes as above
   * @param handshakeDeadline as above
   * @param heartbeat as above
   * @param silence as above
   * @param threads as above
   * @throws IllegalArgumentException if a value is out of its range
   */
  public LinkOptions {
    check("maxFrameBytes", maxFrameBytes, 65_536, 1L << 28);
    check("maxPendingBytes", maxPendingBytes, maxFrameBytes, 1L << 40);
    check("maxPendingCalls", maxPendingCalls, 1, 1_000_000);
    check("maxLinks", maxLinks, 1, 100_000);
    check("maxHandshakes", maxHandshakes, 1, 100_000);
    check("handshakeDeadline in ms", handshakeDeadline.toMillis(), 10, 60_000);
    check("heartbeat in ms", heartbeat.toMillis(), 10, 60_000);
    check("silence in ms", silence.toMillis(), 2 * heartbeat.toMillis(), 600_000);
    check("threads", threads, 1, 64);
  }

  /**
   * Returns a copy with other times.
   *
   * @param newHandshakeDeadline see {@link #handshakeDeadline}
   * @param newHeartbeat see {@link #heartbeat}
   * @param newSilence see {@link #silence}
   * @return the copy
   * @throws IllegalArgumentException if a value is out of its range
   */
  public LinkOptions withTimes(
      Duration newHandshakeDeadline, Duration newHeartbeat, Duration newSilence) {
    return new LinkOptions(
        maxFrameBytes,
        maxPendingBytes,
        maxPendingCalls,
        maxLinks,
        maxHandshakes,
        newHandshakeDeadline,
        newHeartbeat,
        newSilence,
        threads);
  }

  private static void check(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + min + " to " + max + ")");
    }
  }
}
