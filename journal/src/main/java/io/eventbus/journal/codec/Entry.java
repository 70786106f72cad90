package io.eventbus.journal.codec;

import java.util.List;

/**
 * Entry of a shard's log.
 *
 * @param stamp the leader's time when it was made, in milliseconds since the epoch
 * @param records in the order in which they are applied; events lie in the buffer from which they
 *     were read
 */
public record Entry(long stamp, List<ShardRecord> records) {
  /** Maximum size of an entry, in bytes; part of the format. */
  public static final int MAX_BYTES = 4 << 20;

  /** Maximum number of records; part of the format. */
  public static final int MAX_RECORDS = 65_536;

  /** Maximum stamp: the end of the year 9999. */
  public static final long MAX_STAMP = 253_402_300_799_999L;

  /** Copies the list. */
  public Entry {
    records = List.copyOf(records);
  }
}
