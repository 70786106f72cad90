package io.eventbus.journal.rows;

import java.nio.ByteBuffer;

/**
 * Changes of one entry of a shard's log. Reads see the rows as they were before the entry, so rules
 * keep the rows that they have changed. All changes are committed together, or none is.
 *
 * <p>Confined to the thread that applies the entry. Arguments are copied before a call returns.
 */
public interface Rows extends RowReader {
  /** Writes a row, in place of the one with the same key. */
  void put(byte[] key, byte[] value);

  /** Writes a row with what remains in a direct or heap buffer, whose position does not change. */
  void put(byte[] key, ByteBuffer value);

  /** Deletes a row if there is one. */
  void delete(byte[] key);

  /**
   * Deletes the rows whose keys are not before {@code from} and before {@code to}, also those that
   * this entry has written before.
   */
  void deleteRange(byte[] from, byte[] to);
}
