package io.eventbus.journal.store;

import java.time.Duration;

/**
 * Rule for when rows are brought to the disk that are only in memory, so that little of the log has
 * to be kept for them.
 *
 * @param bytes written since the last flush
 * @param interval since the last flush, if anything was written
 */
public record FlushPolicy(long bytes, Duration interval) {
  /** Rule of a shard: 256 MiB or a minute. */
  public static final FlushPolicy DEFAULT = new FlushPolicy(256L << 20, Duration.ofSeconds(60));

  /** Returns whether a flush is due. */
  boolean isDue(long written, long nanosSinceFlush) {
    return written >= bytes || (written > 0 && nanosSinceFlush >= interval.toNanos());
  }
}
