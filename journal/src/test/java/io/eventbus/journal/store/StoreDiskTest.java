package io.eventbus.journal.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.rows.DamagedRowException;
import io.eventbus.journal.rows.DamagedStoreException;
import io.eventbus.journal.rows.StoreFailedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;

@Timeout(120)
class StoreDiskTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final FlushPolicy NEVER = new FlushPolicy(Long.MAX_VALUE, Duration.ofDays(1));

  private final Path directory;

  StoreDiskTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private static byte[] key(long number) {
    return ByteBuffer.allocate(9).put((byte) 9).putLong(number).array();
  }

  @Test
  void whatIsCommittedIsOnTheDiskAfterAFlush() throws Exception {
    try (ShardStore store = TestStores.open(directory)) {
      TestStores.put(store, 1, key(1), new byte[10]);
      assertThat(store.appliedOnDisk()).isEqualTo(AppliedEntry.NONE);
      assertThat(store.flush(LONG)).isTrue();
      assertThat(store.appliedOnDisk()).isEqualTo(new AppliedEntry(1, 1, 1));
      TestStores.put(store, 2, key(2), new byte[10]);
      assertThat(store.appliedOnDisk()).isEqualTo(new AppliedEntry(1, 1, 1));
    }
  }

  @Test
  void aFlushWithoutAnythingToWriteEnds() throws Exception {
    try (ShardStore store = TestStores.open(directory)) {
      assertThat(store.flush(LONG)).isTrue();
      TestStores.put(store, 1, key(1), new byte[10]);
      assertThat(store.flush(LONG)).isTrue();
      assertThat(store.flush(LONG)).isTrue();
    }
  }

  @Test
  void aFlushThatTakesTooLongSaysSo() throws Exception {
    try (ShardStore store = TestStores.open(directory)) {
      store.database().db.pauseBackgroundWork();
      TestStores.put(store, 1, key(1), new byte[10]);
      assertThat(store.flush(Duration.ofMillis(20))).isFalse();
      assertThat(store.appliedOnDisk()).isEqualTo(AppliedEntry.NONE);
      store.database().db.continueBackgroundWork();
      assertThat(store.flush(LONG)).isTrue();
      assertThat(store.stats().flushes()).isEqualTo(3);
    }
  }

  @Test
  void aFlushWaitsWhileWritesHaveNoRoom() throws Exception {
    try (ShardStore store = TestStores.open(directory)) {
      store.database().db.pauseBackgroundWork();
      CompletableFuture<Void> applying = CompletableFuture.runAsync(() -> fill(store));
      awaitNot(() -> store.stats().stalls() == 0 && !applying.isDone());
      try {
        assertThat(store.flush(Duration.ofMillis(20))).isFalse();
        assertThat(applying).isNotDone();
      } finally {
        store.database().db.continueBackgroundWork();
      }
      applying.get(60, TimeUnit.SECONDS);
      assertThat(store.flush(LONG)).isTrue();
      assertThat(store.appliedOnDisk()).isEqualTo(store.applied());
    }
  }

  @Test
  void whatStoresHaveInMemoryIsCounted() throws Exception {
    try (ShardStore store = TestStores.open(directory, StoreOptions.DEFAULT)) {
      long before = TestStores.resources().usedBytes();
      TestStores.put(store, 1, key(1), new byte[4 << 20]);
      assertThat(TestStores.resources().usedBytes()).isGreaterThan(before + (3 << 20));
    }
  }

  @Test
  void enoughBytesAreFlushedByThemselves() throws Exception {
    FlushPolicy policy = new FlushPolicy(100_000, Duration.ofDays(1));
    StoreOptions options = new StoreOptions(32 << 20, 3, true, LONG, policy);
    try (ShardStore store = TestStores.open(directory, options)) {
      for (int i = 1; i <= 11; i++) {
        TestStores.put(store, i, key(i), new byte[10_000]);
      }
      awaitNot(() -> store.appliedOnDisk().index() < 10);
    }
  }

  @Test
  void aFewBytesAreFlushedInTime() throws Exception {
    FlushPolicy policy = new FlushPolicy(Long.MAX_VALUE, Duration.ofMillis(20));
    StoreOptions options = new StoreOptions(32 << 20, 3, true, LONG, policy);
    try (ShardStore store = TestStores.open(directory, options)) {
      TestStores.put(store, 1, key(1), new byte[10]);
      awaitNot(() -> store.appliedOnDisk().index() < 1);
      TestStores.put(store, 2, key(2), new byte[10]);
      awaitNot(() -> store.appliedOnDisk().index() < 2);
    }
  }

  @Test
  void thePolicyAsksForAFlushByBytesOrByTime() {
    FlushPolicy policy = new FlushPolicy(100, Duration.ofNanos(50));
    assertThat(policy.isDue(0, 1_000)).isFalse();
    assertThat(policy.isDue(99, 49)).isFalse();
    assertThat(policy.isDue(100, 0)).isTrue();
    assertThat(policy.isDue(1, 50)).isTrue();
  }

  @Test
  void aWriteWithoutRoomWaitsAndIsCounted() throws Exception {
    try (ShardStore store = TestStores.open(directory)) {
      store.database().db.pauseBackgroundWork();
      CompletableFuture<Void> applying = CompletableFuture.runAsync(() -> fill(store));
      awaitNot(() -> store.stats().stalls() == 0 && !applying.isDone());
      long index = store.applied().index();
      try {
        assertThat(applying).isNotDone();
      } finally {
        store.database().db.continueBackgroundWork();
      }
      applying.get(60, TimeUnit.SECONDS);
      assertThat(store.applied().index()).isGreaterThan(index);
      assertThat(store.stats().stallNanos()).isPositive();
      assertThat(store.flush(LONG)).isTrue();
      try (StoreLease lease = store.lease()) {
        assertThat(lease.get(key(store.applied().index()))).hasSize(8_000);
      }
    }
  }

  private static void awaitNot(Callable<Boolean> condition) throws Exception {
    while (condition.call()) {
      Thread.sleep(1);
    }
  }

  /** Writes until one write had to wait for room. */
  private static void fill(ShardStore store) {
    long index = 0;
    while (store.stats().stalls() == 0) {
      index++;
      TestStores.put(store, index, key(index), new byte[8_000]);
    }
  }

  @Test
  void aWriteThatGetsNoRoomInTimeEndsTheStore() throws Exception {
    StoreOptions options = new StoreOptions(256 << 10, 3, true, Duration.ofMillis(20), NEVER);
    CompletableFuture<StoreFailedException> told = new CompletableFuture<>();
    try (ShardStore store =
        ShardStore.open(
            directory, TestStores.IDENTITY, options, TestStores.resources(), told::complete)) {
      store.database().db.pauseBackgroundWork();
      assertThatThrownBy(() -> fill(store))
          .isInstanceOf(StoreFailedException.class)
          .hasMessageContaining(directory.toString())
          .hasMessageContaining("no room for a write after PT0.02S");
      assertEnded(store);
      store.database().db.continueBackgroundWork();
    }
    assertThat(told).isCompleted();
    long last;
    try (ShardStore store = TestStores.open(directory);
        StoreLease lease = store.lease()) {
      last = store.applied().index();
      assertThat(lease.get(key(last))).isNotNull();
      assertThat(lease.get(key(last + 1))).isNull();
    }
  }

  private static void assertEnded(ShardStore store) {
    assertThatThrownBy(store::lease).isInstanceOf(StoreFailedException.class);
    assertThatThrownBy(store::begin).isInstanceOf(StoreFailedException.class);
    assertThatThrownBy(store::appliedOnDisk).isInstanceOf(StoreFailedException.class);
    assertThatThrownBy(() -> store.flush(LONG)).isInstanceOf(StoreFailedException.class);
  }

  @Test
  void anErrorInTheBackgroundEndsTheStore() throws Exception {
    Path store = directory.resolve("store");
    CompletableFuture<StoreFailedException> told = new CompletableFuture<>();
    try (ShardStore opened =
        ShardStore.open(
            store, TestStores.IDENTITY, TestStores.SMALL, TestStores.resources(), told::complete)) {
      TestStores.put(opened, 1, key(1), new byte[10]);
      StoreLease lease = opened.lease();
      // New files cannot be made where there is no directory.
      Files.move(store, directory.resolve("moved"));
      assertThatThrownBy(() -> opened.flush(LONG)).isInstanceOf(StoreFailedException.class);
      assertThat(told.get(60, TimeUnit.SECONDS)).hasMessageContaining("in the background");
      assertThatThrownBy(() -> lease.get(key(1))).isInstanceOf(StoreFailedException.class);
      assertEnded(opened);
      lease.close();
      Files.move(directory.resolve("moved"), store);
    }
    try (ShardStore opened = TestStores.open(store)) {
      assertThat(opened.applied()).isEqualTo(opened.appliedOnDisk());
    }
  }

  @Test
  void anErrorInTheBackgroundIsFoundByTheNextWriteAndWithoutOne() throws Exception {
    for (boolean writes : new boolean[] {true, false}) {
      Path store = directory.resolve("store-" + writes);
      CompletableFuture<StoreFailedException> told = new CompletableFuture<>();
      try (ShardStore opened =
          ShardStore.open(
              store,
              TestStores.IDENTITY,
              TestStores.SMALL,
              TestStores.resources(),
              told::complete)) {
        TestStores.put(opened, 1, key(1), new byte[10]);
        Files.move(store, directory.resolve("moved"));
        opened.database().db.flush(opened.database().flush);
        awaitNot(() -> opened.database().backgroundErrors() == 0);
        if (writes) {
          assertThatThrownBy(() -> TestStores.put(opened, 2, key(2), new byte[10]))
              .isInstanceOf(StoreFailedException.class);
        }
        told.get(60, TimeUnit.SECONDS);
        Files.move(directory.resolve("moved"), store);
      }
    }
  }

  @Test
  void aLeaseTellsOfADamagedRowAndReadsTheOthers() throws IOException, RocksDBException {
    try (ShardStore store = TestStores.open(directory)) {
      for (int i = 1; i <= 3; i++) {
        TestStores.put(store, i, key(i), new byte[10_000]);
      }
    }
    Path file = blobs(directory).get(0);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[] {1}), channel.size() / 2);
    }
    try (ShardStore store = TestStores.open(directory);
        StoreLease lease = store.lease()) {
      assertThat(lease.get(key(1))).hasSize(10_000);
      assertThatThrownBy(() -> lease.get(key(2)))
          .isInstanceOf(DamagedRowException.class)
          .hasMessageContaining(directory.toString());
      assertThat(lease.get(key(3))).hasSize(10_000);
      assertThatThrownBy(() -> TestStores.lastBytes(lease, key(1), key(9), false))
          .isInstanceOf(DamagedRowException.class);
    }
    try (ShardStore store = TestStores.open(directory);
        StoreBatch batch = store.begin()) {
      assertThatThrownBy(() -> batch.get(key(2))).isInstanceOf(DamagedStoreException.class);
      assertEnded(store);
    }
  }

  private static List<Path> blobs(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(".blob")).sorted().toList();
    }
  }
}
