package io.eventbus.journal.store;

import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;

/**
 * Writer of whole batches into RocksDB, which refuses them while it has no room. They are tried
 * again from here, so that a stall is counted, and ends.
 */
final class BatchWriter {
  private static final long RETRY_MILLIS = 5;

  private final Database database;
  private final StoreFailure failure;
  private final Duration timeout;
  private final LongAdder entries = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder stalls = new LongAdder();
  private final LongAdder stallNanos = new LongAdder();

  BatchWriter(Database database, StoreFailure failure, Duration timeout) {
    this.database = database;
    this.failure = failure;
    this.timeout = timeout;
  }

  /** Writes a batch, or ends the store. */
  void write(WriteBatch changes) {
    long size = changes.getDataSize();
    if (!tryWrite(changes)) {
      stalls.increment();
      long begun = System.nanoTime();
      try {
        retry(changes, begun);
      } finally {
        stallNanos.add(System.nanoTime() - begun);
      }
    }
    entries.increment();
    bytes.add(size);
  }

  private void retry(WriteBatch changes, long begun) {
    do {
      failure.check();
      if (System.nanoTime() - begun > timeout.toNanos()) {
        throw failure.fail(
            "no room for a write after " + timeout + " (expected: a faster disk)", null);
      }
      try {
        Thread.sleep(RETRY_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw failure.fail("interrupted while a write waited for room", e);
      }
    } while (!tryWrite(changes));
  }

  private boolean tryWrite(WriteBatch changes) {
    try {
      database.db.write(database.write, changes);
      return true;
    } catch (RocksDBException e) {
      Status status = e.getStatus();
      if (status != null && status.getCode() == Status.Code.Incomplete) {
        return false;
      }
      throw failure.fail("a write failed", e);
    }
  }

  /** Returns the bytes that were written. */
  long bytes() {
    return bytes.sum();
  }

  StoreStats stats(long flushes) {
    return new StoreStats(entries.sum(), bytes.sum(), stalls.sum(), stallNanos.sum(), flushes);
  }
}
