package io.eventbus.journal.rows;

/** Rows one after the other. Confined to one thread; begins before its first row. */
public interface RowScan extends AutoCloseable {
  /**
   * Goes on to the next row.
   *
   * @return whether there is one
   * @throws StoreFailedException if the rows cannot be read
   */
  boolean next();

  /** Returns the key of the row, which the caller may keep and change. */
  byte[] key();

  /** Returns the value of the row, which the caller may keep and change. */
  byte[] value();

  /** Releases what the scan holds of the store; a second call does nothing. */
  @Override
  void close();
}
