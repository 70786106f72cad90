package io.eventbus.journal.store;

import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * Writer of the rows of another store into an empty one, which has applied nothing until all of
 * them are there. Confined to one thread.
 */
public final class StoreLoader implements AutoCloseable {
  private final ShardStore store;
  private final WriteBatch batch = new WriteBatch();
  private boolean closed;

  /** Begins to load a store that has counted a lease. */
  StoreLoader(ShardStore store) {
    this.store = store;
  }

  /**
   * Adds a row to those that are written next.
   *
   * @throws IllegalArgumentException if it is one by which a store knows itself
   */
  public void put(byte[] key, byte[] value) {
    if (!MetaRows.isOther(key)) {
      throw new IllegalArgumentException("row: of the store itself (expected: another one)");
    }
    store.failure().check();
    try {
      batch.put(key, value);
    } catch (RocksDBException e) {
      throw store.failure().fail("a row cannot be added to a batch", e);
    }
  }

  /** Writes what was added; waits while there is no room. */
  public void write() {
    store.load(batch);
    batch.clear();
  }

  /** Takes note that all rows are there, of the entries up to one. */
  public void finish(AppliedEntry applied) {
    try {
      batch.put(MetaRows.appliedKey(), MetaRows.encode(applied));
    } catch (RocksDBException e) {
      throw store.failure().fail("a row cannot be added to a batch", e);
    }
    store.commit(batch, applied);
    batch.clear();
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      batch.close();
      store.leases().release();
    }
  }
}
