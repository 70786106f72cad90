package io.eventbus.journal.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.rows.StoreFailedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShardStoreTest {
  private final Path directory;

  ShardStoreTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private static byte[] key(int last) {
    return new byte[] {9, (byte) last};
  }

  private static byte[] value(int... bytes) {
    byte[] value = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      value[i] = (byte) bytes[i];
    }
    return value;
  }

  @Test
  void rowsAreThereAfterTheStoreWasClosed() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      assertThat(store.applied()).isEqualTo(AppliedEntry.NONE);
      assertThat(store.appliedOnDisk()).isEqualTo(AppliedEntry.NONE);
      try (StoreBatch batch = store.begin()) {
        batch.put(key(1), value(1));
        batch.put(key(2), ByteBuffer.wrap(value(0, 2, 0), 1, 1));
        batch.put(key(3), ByteBuffer.allocateDirect(3).put(value(0, 3, 0)).limit(2).position(1));
        batch.put(new byte[2_000], ByteBuffer.allocateDirect(1));
        batch.commit(new AppliedEntry(3, 7, 99));
      }
      assertThat(store.applied()).isEqualTo(new AppliedEntry(3, 7, 99));
    }
    try (ShardStore store = TestStores.open(directory);
        StoreLease lease = store.lease()) {
      assertThat(store.applied()).isEqualTo(new AppliedEntry(3, 7, 99));
      assertThat(store.appliedOnDisk()).isEqualTo(new AppliedEntry(3, 7, 99));
      assertThat(lease.get(key(1))).isEqualTo(value(1));
      assertThat(lease.get(key(2))).isEqualTo(value(2));
      assertThat(lease.get(key(3))).isEqualTo(value(3));
      assertThat(lease.get(new byte[2_000])).isEqualTo(value(0));
      assertThat(lease.get(key(4))).isNull();
    }
  }

  @Test
  void aBufferThatIsWrittenKeepsItsPosition() throws IOException {
    try (ShardStore store = TestStores.open(directory);
        StoreBatch batch = store.begin()) {
      ByteBuffer direct = ByteBuffer.allocateDirect(8).position(2);
      ByteBuffer heap = ByteBuffer.allocate(8).position(2);
      batch.put(key(1), direct);
      batch.put(key(1), heap);
      assertThat(direct.position()).isEqualTo(2);
      assertThat(heap.position()).isEqualTo(2);
    }
  }

  @Test
  void anEntryReadsTheRowsFromBeforeIt() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      TestStores.put(store, 1, key(1), value(1));
      try (StoreBatch batch = store.begin()) {
        batch.put(key(1), value(2));
        batch.put(key(2), value(2));
        assertThat(batch.get(key(1))).isEqualTo(value(1));
        assertThat(batch.get(key(2))).isNull();
        assertThat(TestStores.lastBytes(batch, key(0), key(9), false)).containsExactly(1);
        batch.commit(new AppliedEntry(1, 2, 2));
        assertThat(batch.get(key(1))).isEqualTo(value(2));
      }
    }
  }

  @Test
  void whatIsNotCommittedIsForgotten() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      try (StoreBatch batch = store.begin()) {
        batch.put(key(1), value(1));
      }
      TestStores.put(store, 1, key(2), value(2));
      try (StoreLease lease = store.lease()) {
        assertThat(lease.get(key(1))).isNull();
        assertThat(lease.get(key(2))).isEqualTo(value(2));
      }
    }
  }

  @Test
  void changesOfAnEntryHoldInTheirOrder() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      try (StoreBatch batch = store.begin()) {
        for (int i = 0; i < 6; i++) {
          batch.put(key(i), value(i));
        }
        batch.deleteRange(key(1), key(4));
        batch.put(key(2), value(22));
        batch.delete(key(5));
        batch.commit(new AppliedEntry(1, 1, 1));
      }
      try (StoreLease lease = store.lease()) {
        assertThat(TestStores.lastBytes(lease, key(0), key(9), false)).containsExactly(0, 2, 4);
        assertThat(lease.get(key(2))).isEqualTo(value(22));
      }
    }
  }

  @Test
  void aScanHasTheRowsOfItsRangeInTheOrderOfUnsignedBytes() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      for (int i : new int[] {0, 1, 127, 128, 200, 255}) {
        TestStores.put(store, i + 1, key(i), value(i));
      }
      try (StoreLease lease = store.lease()) {
        assertThat(TestStores.lastBytes(lease, key(1), key(255), false))
            .containsExactly(1, 127, 128, 200);
        assertThat(TestStores.lastBytes(lease, key(1), key(255), true))
            .containsExactly(200, 128, 127, 1);
        assertThat(TestStores.lastBytes(lease, key(2), key(100), true)).isEmpty();
        try (RowScan scan = lease.scan(key(2), key(100))) {
          assertThat(scan.next()).isFalse();
          assertThat(scan.next()).isFalse();
          assertThatThrownBy(scan::key).isInstanceOf(IllegalStateException.class);
        }
      }
    }
  }

  @Test
  void aLeaseReadsTheRowsOfItsBeginning() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      TestStores.put(store, 1, key(1), value(1));
      try (StoreLease before = store.lease()) {
        TestStores.put(store, 2, key(1), value(2));
        TestStores.put(store, 3, key(2), value(3));
        assertThat(before.get(key(1))).isEqualTo(value(1));
        assertThat(TestStores.lastBytes(before, key(0), key(9), false)).containsExactly(1);
      }
      try (StoreLease after = store.lease()) {
        assertThat(after.get(key(1))).isEqualTo(value(2));
      }
    }
  }

  @Test
  void whatALeaseHasGivenOutIsUselessAfterIt() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      TestStores.put(store, 1, key(1), value(1));
      StoreLease lease = store.lease();
      RowScan scan = lease.scan(key(0), key(9));
      assertThat(scan.next()).isTrue();
      lease.close();
      lease.close();
      assertThatThrownBy(scan::next).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(scan::value).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> lease.get(key(1))).isInstanceOf(IllegalStateException.class);
      StoreBatch batch = store.begin();
      batch.close();
      assertThatThrownBy(() -> batch.get(key(1))).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> batch.put(key(1), value(1)))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void oneBatchIsOpenAtATime() throws IOException {
    try (ShardStore store = TestStores.open(directory);
        StoreBatch batch = store.begin()) {
      assertThatThrownBy(store::begin).isInstanceOf(IllegalStateException.class);
      batch.commit(new AppliedEntry(1, 1, 1));
    }
  }

  @Test
  void anEntryIsAppliedOnce() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      TestStores.put(store, 5, key(1), value(1));
      assertThatThrownBy(() -> TestStores.put(store, 5, key(1), value(2)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("index: 5 (expected: more than 5)");
      try (StoreLease lease = store.lease()) {
        assertThat(lease.get(key(1))).isEqualTo(value(1));
      }
    }
  }

  @Test
  void aStoreWaitsForItsLeasesBeforeItCloses() throws Exception {
    ShardStore store = TestStores.open(directory);
    TestStores.put(store, 1, key(1), value(1));
    StoreLease lease = store.lease();
    assertThat(store.close(Duration.ofMillis(1))).isFalse();
    assertThat(lease.get(key(1))).isEqualTo(value(1));
    assertThatThrownBy(store::lease)
        .isInstanceOf(StoreFailedException.class)
        .hasMessageContaining("closed");
    assertThatThrownBy(store::begin).isInstanceOf(StoreFailedException.class);
    lease.close();
    assertThat(store.close(Duration.ofSeconds(30))).isTrue();
    assertThat(store.close(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void anOpenBatchKeepsTheStoreOpen() throws Exception {
    ShardStore store = TestStores.open(directory);
    StoreBatch batch = store.begin();
    batch.put(key(1), value(1));
    assertThat(store.close(Duration.ofMillis(1))).isFalse();
    batch.commit(new AppliedEntry(1, 1, 1));
    batch.close();
    assertThat(store.close(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void aStoreIsThatOfItsOwnerAlone() throws IOException {
    TestStores.open(directory).close();
    StoreIdentity other = new StoreIdentity(new UUID(1, 2), "bus-a~2");
    assertThatThrownBy(
            () ->
                ShardStore.open(
                    directory, other, TestStores.SMALL, TestStores.resources(), failure -> {}))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(directory.toString())
        .hasMessageContaining("bus-a~1")
        .hasMessageContaining("bus-a~2");
    TestStores.open(directory).close();
  }

  @Test
  void rowsWithoutAnOwnerAreNoNewStore() throws IOException {
    try (ShardStore store = TestStores.open(directory);
        StoreBatch batch = store.begin()) {
      batch.delete(MetaRows.identityKey());
      batch.commit(new AppliedEntry(1, 1, 1));
    }
    assertThatThrownBy(() -> TestStores.open(directory))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("identity");
  }

  @Test
  void aDirectoryIsUsedByOneStore() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      assertThatThrownBy(() -> TestStores.open(directory))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(directory.toString());
      assertThat(store.applied()).isEqualTo(AppliedEntry.NONE);
    }
  }
}
