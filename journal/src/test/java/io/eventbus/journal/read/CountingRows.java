package io.eventbus.journal.read;

import io.eventbus.journal.rows.RowReader;
import io.eventbus.journal.rows.RowScan;
import org.jspecify.annotations.Nullable;

/** Rows that count how many were read by their key. */
final class CountingRows implements RowReader {
  private final RowReader rows;
  int gets;

  CountingRows(RowReader rows) {
    this.rows = rows;
  }

  @Override
  public byte @Nullable [] get(byte[] key) {
    gets++;
    return rows.get(key);
  }

  @Override
  public RowScan scan(byte[] from, byte[] to) {
    return rows.scan(from, to);
  }

  @Override
  public RowScan scanReverse(byte[] from, byte[] to) {
    return rows.scanReverse(from, to);
  }
}
