package io.eventbus.journal.store;

import io.eventbus.journal.rows.RowScan;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Snapshot;

/** Walk over the rows of a range. */
final class StoreScan implements RowScan {
  private final StoreFailure failure;
  private final Function<RocksDBException, RuntimeException> readError;
  private final boolean reverse;
  private final Slice lower;
  private final Slice upper;
  private final ReadOptions options;
  private final RocksIterator rows;
  private boolean begun;
  private boolean closed;

  /**
   * Begins before the first row.
   *
   * @param snapshot whose rows are read, null for those of now
   * @param readAhead bytes that are read ahead, 0 for RocksDB's own rule
   * @param readError what is thrown for rows that cannot be read
   */
  StoreScan(
      RocksDB db,
      @Nullable Snapshot snapshot,
      long readAhead,
      byte[] from,
      byte[] to,
      boolean reverse,
      StoreFailure failure,
      Function<RocksDBException, RuntimeException> readError) {
    this.failure = failure;
    this.readError = readError;
    this.reverse = reverse;
    lower = new Slice(from);
    upper = new Slice(to);
    options =
        new ReadOptions()
            .setIterateLowerBound(lower)
            .setIterateUpperBound(upper)
            .setReadaheadSize(readAhead)
            .setFillCache(snapshot == null);
    if (snapshot != null) {
      options.setSnapshot(snapshot);
    }
    rows = db.newIterator(options);
  }

  @Override
  public boolean next() {
    checkOpen();
    failure.check();
    if (!begun) {
      begun = true;
      if (reverse) {
        rows.seekToLast();
      } else {
        rows.seekToFirst();
      }
    } else if (rows.isValid()) {
      if (reverse) {
        rows.prev();
      } else {
        rows.next();
      }
    }
    if (rows.isValid()) {
      return true;
    }
    try {
      rows.status();
    } catch (RocksDBException e) {
      throw readError.apply(e);
    }
    return false;
  }

  @Override
  public byte[] key() {
    checkOnRow();
    return rows.key();
  }

  @Override
  public byte[] value() {
    checkOnRow();
    return rows.value();
  }

  private void checkOnRow() {
    checkOpen();
    if (!begun || !rows.isValid()) {
      throw new IllegalStateException("scan: at no row (expected: after next() returned true)");
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("scan: closed (expected: open)");
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      rows.close();
      options.close();
      lower.close();
      upper.close();
    }
  }
}
