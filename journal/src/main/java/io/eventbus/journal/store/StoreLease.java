package io.eventbus.journal.store;

import io.eventbus.journal.rows.DamagedRowException;
import io.eventbus.journal.rows.RowReader;
import io.eventbus.journal.rows.RowScan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.Snapshot;

/**
 * Right to read a store, whose rows stay as they were when the lease began. Held briefly: the store
 * cannot be closed before, and keeps what has been deleted since. Confined to one thread.
 */
public final class StoreLease implements RowReader, AutoCloseable {
  private static final long READ_AHEAD = 1 << 20;

  private final ShardStore store;
  private final Database database;
  private final Snapshot snapshot;
  private final ReadOptions options;
  private final List<StoreScan> scans = new ArrayList<>();
  private boolean closed;

  /** Begins a lease that the store has counted already. */
  StoreLease(ShardStore store, Database database) {
    this.store = store;
    this.database = database;
    snapshot = database.db.getSnapshot();
    options = new ReadOptions().setSnapshot(snapshot).setFillCache(false);
  }

  /**
   * {@inheritDoc}
   *
   * @throws DamagedRowException if it cannot be read from the disk
   */
  @Override
  public byte @Nullable [] get(byte[] key) {
    check();
    try {
      return database.db.get(options, key);
    } catch (RocksDBException e) {
      throw damaged(key, e);
    }
  }

  @Override
  public RowScan scan(byte[] from, byte[] to) {
    return scan(from, to, false);
  }

  @Override
  public RowScan scanReverse(byte[] from, byte[] to) {
    return scan(from, to, true);
  }

  private RowScan scan(byte[] from, byte[] to, boolean reverse) {
    check();
    StoreScan scan =
        new StoreScan(
            database.db,
            snapshot,
            READ_AHEAD,
            from,
            to,
            reverse,
            store.failure(),
            e -> damaged(from, e));
    scans.add(scan);
    return scan;
  }

  /** Returns the last entry that had been committed when the lease began. */
  public AppliedEntry applied() {
    byte[] key = MetaRows.appliedKey();
    byte[] value = get(key);
    try {
      return value == null ? AppliedEntry.NONE : MetaRows.decodeApplied(value);
    } catch (IOException e) {
      throw new DamagedRowException("store " + store.directory() + ": " + e.getMessage(), e);
    }
  }

  /** Returns all rows but those that only the store writes, by which it knows itself. */
  public RowScan scanAll() {
    return scan(MetaRows.firstOfOthers(), MetaRows.end());
  }

  private void check() {
    if (closed) {
      throw new IllegalStateException("lease: closed (expected: open)");
    }
    store.failure().check();
  }

  private DamagedRowException damaged(byte[] key, RocksDBException e) {
    return new DamagedRowException(
        "store "
            + store.directory()
            + ": row "
            + HexFormat.of().formatHex(key)
            + " or one near it cannot be read: "
            + e.getMessage(),
        e);
  }

  /** Ends the lease and its scans; a second call does nothing. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    scans.forEach(StoreScan::close);
    options.close();
    database.db.releaseSnapshot(snapshot);
    store.leases().release();
  }
}
