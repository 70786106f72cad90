package io.eventbus.journal.rows;

import org.jspecify.annotations.Nullable;

/**
 * Rows that have been committed. Keys are compared as unsigned bytes, and a shorter key comes
 * before those that it begins.
 *
 * <p>Every call may throw {@link StoreFailedException}.
 */
public interface RowReader {
  /** Returns the value of a key, which the caller may keep and change; null if there is none. */
  byte @Nullable [] get(byte[] key);

  /**
   * Returns the rows whose keys are not before {@code from} and before {@code to}, in ascending
   * order, as they are at the time of this call. The caller closes it.
   */
  RowScan scan(byte[] from, byte[] to);

  /** Does what {@link #scan} does, in descending order. */
  RowScan scanReverse(byte[] from, byte[] to);
}
