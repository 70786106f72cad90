package io.eventbus.journal.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.codec.EntryReader;
import io.eventbus.journal.rows.MemoryRows;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.store.AppliedEntry;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreBatch;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.journal.store.TestStores;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares the rows of a shard on its store with those of one on rows in memory. */
class ShardStoreModelTest {
  private static final int SEEDS = 5;

  private final Path directory;

  ShardStoreModelTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @Test
  void aStoreHasTheRowsThatMemoryHas() throws Exception {
    for (long seed = 1; seed <= SEEDS; seed++) {
      compare(directory.resolve("" + seed), ShardModelTest.LIMITS, ShardModelTest.entries(seed));
      compare(
          directory.resolve("shared-" + seed),
          SharedCursorModelTest.LIMITS,
          SharedCursorModelTest.entries(seed));
      compare(
          directory.resolve("key-shared-" + seed),
          KeySharedModelTest.LIMITS,
          KeySharedModelTest.entries(seed));
    }
  }

  private static void compare(Path path, ShardLimits limits, List<ByteBuffer> entries)
      throws Exception {
    ShardFixture memory = new ShardFixture(limits, new MemoryRows(), Shard.CACHE_BYTES);
    entries.forEach(memory::apply);
    int half = entries.size() / 2;
    apply(path, limits, entries.subList(0, half));
    MemoryRows stored = apply(path, limits, entries.subList(half, entries.size()));

    assertThat(ShardFixture.text(stored)).isEqualTo(ShardFixture.text(memory.rows));
  }

  /** Opens a store, applies entries, and returns a copy of all rows but the store's own. */
  private static MemoryRows apply(Path path, ShardLimits limits, List<ByteBuffer> entries)
      throws Exception {
    Shard shard = new Shard(limits, 0, true);
    MemoryRows copy = new MemoryRows();
    try (ShardStore store = TestStores.open(path)) {
      for (ByteBuffer entry : entries) {
        try (StoreBatch batch = store.begin()) {
          long stamp = shard.apply(new EntryReader().read(entry), batch).stamp();
          batch.commit(new AppliedEntry(1, store.applied().index() + 1, stamp));
        }
      }
      try (StoreLease lease = store.lease();
          RowScan scan = lease.scan(new byte[] {Keys.META + 1}, new byte[] {Byte.MAX_VALUE})) {
        while (scan.next()) {
          copy.put(scan.key(), scan.value());
        }
      }
    }
    copy.commit();
    return copy;
  }
}
