package io.eventbus.journal.store;

import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.rows.Rows;
import io.eventbus.journal.rows.StoreFailedException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * Changes of one entry. Confined to the thread that applies entries; closed by it, whether it was
 * committed or not.
 */
public final class StoreBatch implements Rows, AutoCloseable {
  private final ShardStore store;
  private final Database database;
  private final WriteBatch batch;
  private final List<StoreScan> scans = new ArrayList<>();
  // RocksDB takes a direct value only with a direct key.
  private ByteBuffer directKey = ByteBuffer.allocateDirect(512);
  private boolean open;

  StoreBatch(ShardStore store, Database database) {
    this.store = store;
    this.database = database;
    batch = new WriteBatch();
  }

  /** Begins with the next entry, for which the store has counted a lease. */
  void reopen() {
    batch.clear();
    open = true;
  }

  boolean isOpen() {
    return open;
  }

  @Override
  public byte @Nullable [] get(byte[] key) {
    check();
    try {
      return database.db.get(database.read, key);
    } catch (RocksDBException e) {
      throw unreadable(e);
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
        new StoreScan(database.db, null, 0, from, to, reverse, store.failure(), this::unreadable);
    scans.add(scan);
    return scan;
  }

  /** Ends the store: rules that cannot read a row must not go on as if there were none. */
  private StoreFailedException unreadable(RocksDBException e) {
    return store.failure().fail("a row cannot be read", e);
  }

  @Override
  public void put(byte[] key, byte[] value) {
    check();
    try {
      batch.put(key, value);
    } catch (RocksDBException e) {
      throw notWritten(e);
    }
  }

  @Override
  public void put(byte[] key, ByteBuffer value) {
    if (!value.isDirect()) {
      byte[] copy = new byte[value.remaining()];
      value.get(value.position(), copy);
      put(key, copy);
      return;
    }
    check();
    if (directKey.capacity() < key.length) {
      directKey = ByteBuffer.allocateDirect(key.length);
    }
    directKey.clear().put(key).flip();
    try {
      batch.put(directKey, value.duplicate());
    } catch (RocksDBException e) {
      throw notWritten(e);
    }
  }

  @Override
  public void delete(byte[] key) {
    check();
    try {
      batch.delete(key);
    } catch (RocksDBException e) {
      throw notWritten(e);
    }
  }

  @Override
  public void deleteRange(byte[] from, byte[] to) {
    check();
    try {
      batch.deleteRange(from, to);
    } catch (RocksDBException e) {
      throw notWritten(e);
    }
  }

  private StoreFailedException notWritten(RocksDBException e) {
    return store.failure().fail("a row cannot be added to a batch", e);
  }

  /**
   * Commits the changes together with the entry that they come from. They are not on the disk then,
   * but no later ones will be there without them.
   *
   * <p>Waits while RocksDB has no room, which is counted as a stall.
   *
   * @param applied the entry, after those that were committed before
   * @throws StoreFailedException if it cannot be written, or not in time; the store has ended then
   */
  public void commit(AppliedEntry applied) {
    put(MetaRows.appliedKey(), MetaRows.encode(applied));
    store.commit(batch, applied);
    batch.clear();
  }

  /**
   * Commits rows that were lost, and that entries wrote which were committed before.
   *
   * @throws StoreFailedException as {@link #commit}
   */
  public void restore() {
    store.load(batch);
    batch.clear();
  }

  private void check() {
    if (!open) {
      throw new IllegalStateException("batch: closed (expected: open)");
    }
    store.failure().check();
  }

  /** Forgets what was not committed, and ends its scans; a second call does nothing. */
  @Override
  public void close() {
    if (open) {
      open = false;
      batch.clear();
      scans.forEach(StoreScan::close);
      scans.clear();
      store.leases().release();
    }
  }

  /** Releases the memory outside of the heap, when the store is closed. */
  void free() {
    batch.close();
  }
}
