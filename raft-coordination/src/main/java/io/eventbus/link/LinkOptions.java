package io.eventbus.link;

import java.time.Duration;

/**
 * The bounds of a bus's links.
 *
 * @param maxFrameBytes the largest frame after the handshake, 65,536 to 268,435,456; default 16 MiB
 * @param maxPendingBytes the most bytes of calls that one link has under way in one direction, at
 *     least {@code maxFrameBytes}; default 32 MiB
 * @param maxPendingCalls the most calls that one link has under way in one direction, 1 to
 *     1,000,000; default 16,384
 * @param maxLinks the most links that others have opened to this bus, 1 to 100,000; default 32,768:
 *     hundreds of buses with a stream for each of their event loops
 * @param maxHandshakes how many of them may be in their handshake, not authenticated yet, 1 to
 *     100,000; default 4,096
 * @param handshakeDeadline how long opening a link takes at most, 10 ms to 1 minute; default 3 s
 * @param heartbeat how long a link is silent before this side says something, 10 ms to 1 minute;
 *     default 1 s
 * @param silence how long the other side may say nothing before the link counts as dead, at least
 *     twice the heartbeat; default 4 s
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
  /** Links in their handshake that there may be by default: a cluster that starts at once. */
  private static final int HANDSHAKES = 512;

  /** All defaults. */
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
