package io.eventbus.journal.store;

import io.eventbus.journal.rows.RowReader;
import io.eventbus.journal.rows.RowScan;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.rocksdb.RocksDBException;

/** Stores for tests. */
public final class TestStores {
  /** Owner of every store of a test. */
  public static final StoreIdentity IDENTITY = new StoreIdentity(new UUID(1, 2), "bus-a~1");

  /** Settings of a store that flushes only when it is told to, and has small buffers. */
  public static final StoreOptions SMALL =
      new StoreOptions(
          256 << 10,
          3,
          true,
          Duration.ofSeconds(30),
          new FlushPolicy(Long.MAX_VALUE, Duration.ofDays(1)));

  private static final class Shared {
    static final StoreResources RESOURCES = open();

    private static StoreResources open() {
      try {
        Path directory = Path.of("target", "native-" + ProcessHandle.current().pid());
        Files.createDirectories(directory);
        // Deleted after the library, which is deleted when the process ends, too.
        directory.toFile().deleteOnExit();
        return StoreResources.open(directory);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private TestStores() {}

  /** Returns what the stores of this process share. */
  public static StoreResources resources() {
    return Shared.RESOURCES;
  }

  /** Opens a store with small buffers. */
  public static ShardStore open(Path directory) throws IOException {
    return open(directory, SMALL);
  }

  /** Opens a store. */
  public static ShardStore open(Path directory, StoreOptions options) throws IOException {
    return ShardStore.open(directory, IDENTITY, options, resources(), failure -> {});
  }

  /** Ends a store as an error of the disk does. */
  public static void fail(ShardStore store) {
    store.failure().fail("planted", null);
  }

  /** Returns whether a store gives no more leases, as it is being closed. */
  public static boolean isClosing(ShardStore store) {
    boolean open = store.leases().acquire();
    if (open) {
      store.leases().release();
    }
    return !open;
  }

  /** Keeps rows from being brought to the disk. */
  public static void pauseFlushes(ShardStore store) throws RocksDBException {
    store.database().db.pauseBackgroundWork();
  }

  /** Ends a pause of flushes, without which a store cannot be closed. */
  public static void continueFlushes(ShardStore store) throws RocksDBException {
    store.database().db.continueBackgroundWork();
  }

  /** Commits one row as the entry of an index. */
  public static void put(ShardStore store, long index, byte[] key, byte[] value) {
    try (StoreBatch batch = store.begin()) {
      batch.put(key, value);
      batch.commit(new AppliedEntry(1, index, index));
    }
  }

  /** Writes a row beside the entries, and returns what it was. */
  public static byte[] exchange(ShardStore store, byte[] key, byte[] value) {
    Database database = store.database();
    try {
      byte[] before = Objects.requireNonNull(database.db.get(key), "row");
      database.db.put(database.write, key, value);
      return before;
    } catch (RocksDBException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns the keys of a range, the last bytes of each. */
  public static List<Integer> lastBytes(RowReader rows, byte[] from, byte[] to, boolean reverse) {
    List<Integer> found = new ArrayList<>();
    try (RowScan scan = reverse ? rows.scanReverse(from, to) : rows.scan(from, to)) {
      while (scan.next()) {
        byte[] key = scan.key();
        found.add(key[key.length - 1] & 0xFF);
      }
    }
    return found;
  }
}
