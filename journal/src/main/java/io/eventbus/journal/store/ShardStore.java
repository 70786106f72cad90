package io.eventbus.journal.store;

import io.eventbus.journal.rows.StoreFailedException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rows of a shard on the disk. One thread applies entries by batches; any thread reads by leases.
 *
 * <p>With the first error of the disk the store has failed: every later call throws {@link
 * StoreFailedException}. It is closed then, and opened anew.
 */
public final class ShardStore implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ShardStore.class);
  private static final Duration OPEN_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);
  private static final long POLL_MILLIS = 5;

  private final Path directory;
  private final StoreFailure failure;
  private final Database database;
  private final Leases leases = new Leases();
  private final BatchWriter writer;
  private final StoreBatch batch;
  private final Flusher flusher;
  private final LongAdder flushes = new LongAdder();
  private volatile AppliedEntry applied = AppliedEntry.NONE;
  private boolean databaseClosed;

  private ShardStore(
      Path directory, StoreOptions options, StoreFailure failure, Database database) {
    this.directory = directory;
    this.failure = failure;
    this.database = database;
    writer = new BatchWriter(database, failure, options.writeTimeout());
    batch = new StoreBatch(this, database);
    flusher = new Flusher(this, options.flush(), "journal-flush-" + directory.getFileName());
  }

  /**
   * Opens the store of a shard, and makes it if there is none.
   *
   * @param directory the directory that is its alone
   * @param identity the owner that it has, or gets
   * @param onFailure told once of a failure, on any thread; does not close the store itself
   * @throws IOException if it is damaged, another's or used by somebody else, saying so
   */
  public static ShardStore open(
      Path directory,
      StoreIdentity identity,
      StoreOptions options,
      StoreResources resources,
      Consumer<StoreFailedException> onFailure)
      throws IOException {
    StoreFailure failure = new StoreFailure(directory, onFailure);
    Database database = Database.open(directory, options, resources);
    ShardStore store = new ShardStore(directory, options, failure, database);
    try {
      if (MetaRows.claim(database, identity) && !store.flush(OPEN_TIMEOUT)) {
        throw new IOException("not on the disk after " + OPEN_TIMEOUT);
      }
      store.applied = store.readApplied(false);
    } catch (IOException | RocksDBException | RuntimeException | InterruptedException e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      store.closeDatabase();
      throw new IOException("store " + directory + ": " + e.getMessage(), e);
    }
    store.flusher.start();
    return store;
  }

  private AppliedEntry readApplied(boolean onDisk) throws IOException, RocksDBException {
    byte[] value =
        database.db.get(onDisk ? database.readOnDisk : database.read, MetaRows.appliedKey());
    return value == null ? AppliedEntry.NONE : MetaRows.decodeApplied(value);
  }

  /**
   * Begins the changes of an entry; the one before is closed.
   *
   * @throws StoreFailedException if the store has failed or is closed
   */
  public StoreBatch begin() {
    failure.check();
    if (batch.isOpen()) {
      throw new IllegalStateException("batch: one is open (expected: none)");
    }
    acquire();
    batch.reopen();
    return batch;
  }

  /**
   * Begins a lease, by which rows are read as they are now.
   *
   * @throws StoreFailedException if the store has failed or is closed
   */
  public StoreLease lease() {
    acquire();
    return new StoreLease(this, database);
  }

  /**
   * Begins to load the rows of another store into this one, to which no entry was applied.
   *
   * @throws StoreFailedException if the store has failed or is closed
   */
  public StoreLoader loader() {
    if (!applied.equals(AppliedEntry.NONE)) {
      throw new IllegalStateException(
          "store " + directory + ": entry " + applied.index() + " (expected: none applied)");
    }
    acquire();
    return new StoreLoader(this);
  }

  /** Writes rows of no entry: those of a copy, or those that were lost. */
  void load(WriteBatch rows) {
    database.checkBackground(failure);
    writer.write(rows);
    flusher.written(writer.bytes());
  }

  /** Returns about how many bytes the rows have that are on the disk. Any thread. */
  public long bytes() {
    acquire();
    try {
      return database.liveBytes();
    } catch (RocksDBException e) {
      throw failure.fail("the size cannot be read", e);
    } finally {
      leases.release();
    }
  }

  private void acquire() {
    failure.check();
    if (!leases.acquire()) {
      throw new StoreFailedException("store " + directory + ": closed (expected: open)");
    }
  }

  /** Writes the batch of an entry. */
  void commit(WriteBatch changes, AppliedEntry next) {
    if (next.index() <= applied.index()) {
      throw new IllegalArgumentException(
          "index: " + next.index() + " (expected: more than " + applied.index() + ")");
    }
    database.checkBackground(failure);
    writer.write(changes);
    applied = next;
    flusher.written(writer.bytes());
  }

  /** Does what a write does to find errors of the background. */
  void watch() {
    acquire();
    try {
      database.checkBackground(failure);
    } finally {
      leases.release();
    }
  }

  /**
   * Returns the last entry that was committed; {@link AppliedEntry#NONE} if none was. Any thread.
   */
  public AppliedEntry applied() {
    return applied;
  }

  /**
   * Returns the last entry whose rows are on the disk, with those of all entries before. Any
   * thread.
   *
   * @throws StoreFailedException if the store has failed or is closed
   */
  public AppliedEntry appliedOnDisk() {
    acquire();
    try {
      return readApplied(true);
    } catch (IOException | RocksDBException e) {
      throw failure.fail("the row \"applied\" cannot be read", e);
    } finally {
      leases.release();
    }
  }

  /**
   * Brings all rows to the disk that have been committed. Any thread but that which applies, which
   * would not answer meanwhile.
   *
   * @return whether they are there in time
   * @throws StoreFailedException if the store has failed or is closed
   */
  public boolean flush(Duration timeout) throws InterruptedException {
    acquire();
    try {
      AppliedEntry wanted = applied;
      flushes.increment();
      long begun = System.nanoTime();
      boolean asked = database.tryFlush(failure);
      while (isPending(wanted)) {
        database.checkBackground(failure);
        if (System.nanoTime() - begun > timeout.toNanos()) {
          return false;
        }
        Thread.sleep(POLL_MILLIS);
        asked = asked || database.tryFlush(failure);
      }
      return true;
    } catch (RocksDBException e) {
      throw failure.fail("the rows on the disk cannot be read", e);
    } finally {
      leases.release();
    }
  }

  private boolean isPending(AppliedEntry wanted) throws RocksDBException {
    return appliedOnDisk().index() < wanted.index()
        || database.db.get(database.readOnDisk, MetaRows.identityKey()) == null;
  }

  /** Returns figures since the store was opened. Any thread. */
  public StoreStats stats() {
    return writer.stats(flushes.sum());
  }

  /** Returns the directory of the store. */
  public Path directory() {
    return directory;
  }

  StoreFailure failure() {
    return failure;
  }

  Leases leases() {
    return leases;
  }

  Database database() {
    return database;
  }

  /**
   * Refuses new leases and batches, waits for those that there are, and closes the database, which
   * brings everything to the disk if the store has not failed.
   *
   * @return false if there are still leases after the time: nothing is closed then, and this may be
   *     called again
   */
  public synchronized boolean close(Duration timeout) throws InterruptedException {
    leases.close();
    flusher.stop();
    if (!leases.awaitNone(timeout)) {
      return false;
    }
    closeDatabase();
    return true;
  }

  /**
   * Does what {@link #close(Duration)} says within 10 s, and tells in the log of leases that keep
   * the store open. Its files may be opened or deleted only behind that.
   *
   * @return false if it is not closed: this is to be called again
   */
  public boolean tryClose() {
    boolean closed = false;
    try {
      closed = close(CLOSE_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!closed) {
      LOG.warn(
          "store {}: not closed, it has {} leases after {} (expected: none)",
          directory,
          leases.open(),
          CLOSE_TIMEOUT);
    }
    return closed;
  }

  /** Closes the store within 10 s. */
  @Override
  public void close() {
    if (!tryClose()) {
      throw new IllegalStateException(
          "store "
              + directory
              + ": "
              + leases.open()
              + " leases after "
              + CLOSE_TIMEOUT
              + " (expected: none)");
    }
  }

  private void closeDatabase() {
    if (!databaseClosed) {
      databaseClosed = true;
      batch.free();
      database.close();
    }
  }
}
