package io.eventbus.journal.state;

/**
 * Maximum sizes of a shard. They are part of the rules: the same on every member, or their rows
 * differ.
 *
 * @param journals number of journals
 * @param topics number of topics of a journal that have events
 * @param cursors number of cursors of a journal
 * @param producers number of producers that are known, each counted in each of its topics
 * @param delayed number of events that wait for their time
 * @param delayedBytes size of the events that wait, in bytes
 * @param consumers number of consumers of a shared cursor
 * @param unfinished number of events of a shared cursor that were given back or are dead, after
 *     which no others are taken
 */
public record ShardLimits(
    long journals,
    long topics,
    long cursors,
    long producers,
    long delayed,
    long delayedBytes,
    long consumers,
    long unfinished) {
  /** Maximum size of an event, in bytes. */
  public static final int MAX_EVENT_BYTES = 2 << 20;

  /** Maximum number of events that a consumer of a shared cursor has taken and not settled. */
  public static final int MAX_IN_FLIGHT = 1_024;

  /**
   * Minimum time for which a producer is remembered after it was last heard, in milliseconds; and
   * longer while there is room.
   */
  public static final long MIN_PRODUCER_IDLE_MILLIS = 60L * 60 * 1000;

  /** Limits of every shard. */
  public static final ShardLimits DEFAULT =
      new ShardLimits(10_000, 1_000_000, 10_000, 1_000_000, 1_000_000, 1L << 30, 1_000, 100_000);
}
