package io.eventbus.journal.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.ReadHole;
import io.eventbus.journal.ReadHole.Reason;
import io.eventbus.journal.ReadPart;
import io.eventbus.journal.read.TestJournal.Part;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.journal.store.TestStores;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalReaderTest {
  private final Path directory;
  private final JournalReader reader = new JournalReader(TestJournal.NUMBER);

  JournalReaderTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private static ReadRequest all(long from) {
    return new ReadRequest(from, topic -> true, Long.MAX_VALUE, 0);
  }

  private ReadBatch read(StoreLease lease, ReadRequest request) {
    return Objects.requireNonNull(reader.read(lease, request));
  }

  @Test
  void aJournalThatIsNotThereHasNoAnswer() throws IOException {
    try (ShardStore store = TestStores.open(directory);
        StoreLease lease = store.lease()) {
      assertThat(reader.read(lease, all(1))).isNull();
      assertThat(JournalPositions.counters(lease, TestJournal.NUMBER)).isNull();
      assertThat(JournalPositions.positionAt(lease, TestJournal.NUMBER, 0)).isZero();
    }
  }

  @Test
  void positionsBeginWithOne() {
    assertThatThrownBy(() -> all(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("from: 0 (expected: >= 1)");
  }

  @Test
  void atTheEndNothingIsCovered() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      TestJournal journal = new TestJournal(store);
      try (StoreLease lease = store.lease()) {
        assertThat(read(lease, all(1)).to()).isZero();
      }
      journal.append(5, new Part(1, 3, 10, 0));
      try (StoreLease lease = store.lease()) {
        assertThat(read(lease, all(1)).to()).isEqualTo(3);
        assertThat(read(lease, all(4)).to()).isEqualTo(3);
        assertThat(read(lease, all(5)).to()).isEqualTo(4);
        assertThat(read(lease, all(5)).holes()).isEmpty();
      }
    }
  }

  @Test
  void aPartMayBeginBeforeThePositionThatWasAskedFor() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      TestJournal journal = new TestJournal(store);
      journal.append(5, new Part(1, 3, 10, 0), new Part(2, 3, 10, 0));
      try (StoreLease lease = store.lease()) {
        ReadBatch batch = read(lease, all(5));
        assertThat(batch.to()).isEqualTo(6);
        assertThat(batch.parts()).hasSize(1);
        assertThat(batch.parts().get(0).position()).isEqualTo(4);
        assertThat(batch.parts().get(0).frame().isReadOnly()).isTrue();
      }
    }
  }

  @Test
  void whatWasTrimmedIsTold() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      TestJournal journal = new TestJournal(store);
      journal.append(5, new Part(1, 3, 10, 0));
      journal.append(6, new Part(1, 2, 10, 0));
      journal.trim(4);
      try (StoreLease lease = store.lease()) {
        assertThat(read(lease, all(2)).holes()).containsExactly(new ReadHole(Reason.TRIMMED, 2, 3));
        assertThat(read(lease, all(4)).holes()).isEmpty();
      }
    }
  }

  @Test
  void chunksWithoutAWantedTopicAreNotRead() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      TestJournal journal = new TestJournal(store);
      for (int i = 0; i < 100; i++) {
        journal.append(5, new Part(i % 50, 1, 100, 0));
      }
      try (StoreLease lease = store.lease()) {
        CountingRows rows = new CountingRows(lease);
        ReadBatch batch =
            reader.read(rows, new ReadRequest(1, topic -> topic == 7, Long.MAX_VALUE, 0));
        assertThat(Objects.requireNonNull(batch).parts())
            .extracting(ReadPart::position)
            .containsExactly(8L, 58L);
        assertThat(batch.to()).isEqualTo(100);
        // The counters and two chunks.
        assertThat(rows.gets).isEqualTo(3);
      }
    }
  }

  @Test
  void aReadEndsWithItsBytesAlsoIfNothingIsWanted() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      TestJournal journal = new TestJournal(store);
      for (int i = 0; i < 100; i++) {
        journal.append(5, new Part(1, 10, 1_000, 0));
      }
      try (StoreLease lease = store.lease()) {
        ReadBatch some = read(lease, new ReadRequest(1, topic -> true, 25_000, 0));
        assertThat(some.to()).isEqualTo(30);
        ReadBatch none = read(lease, new ReadRequest(1, topic -> false, 100, 0));
        assertThat(none.parts()).isEmpty();
        assertThat(none.to()).isBetween(30L, 200L);
      }
    }
  }

  @Test
  void aDamagedFileCostsItsChunkOnly() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      TestJournal journal = new TestJournal(store);
      for (int i = 0; i < 3; i++) {
        journal.append(5, new Part(1, 2, 5_000, 0));
      }
    }
    Path file;
    try (Stream<Path> files = Files.list(directory)) {
      file = files.filter(f -> f.toString().endsWith(".blob")).findFirst().orElseThrow();
    }
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[] {1}), channel.size() / 2);
    }
    try (ShardStore store = TestStores.open(directory);
        StoreLease lease = store.lease()) {
      ReadBatch batch = read(lease, all(1));
      assertThat(batch.parts()).extracting(ReadPart::position).containsExactly(1L, 5L);
      assertThat(batch.holes()).containsExactly(new ReadHole(Reason.DAMAGED, 3, 4));
      assertThat(batch.to()).isEqualTo(6);
    }
  }

  @Test
  void aPositionIsFoundByTime() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      TestJournal journal = new TestJournal(store);
      try (StoreLease lease = store.lease()) {
        assertThat(JournalPositions.positionAt(lease, TestJournal.NUMBER, 7)).isEqualTo(1);
      }
      for (int i = 0; i < 50; i++) {
        journal.append(100 + 10L * (i / 2), new Part(1, 1 + i % 3, 10, 0));
      }
      for (int trims = 0; trims < 2; trims++) {
        try (StoreLease lease = store.lease()) {
          for (long stamp = 90; stamp < 400; stamp += 5) {
            long expected = journal.last() + 1;
            for (var index : journal.chunks.descendingMap().values()) {
              if (index.lastStamp() >= stamp) {
                expected = index.firstPosition();
              }
            }
            assertThat(JournalPositions.positionAt(lease, TestJournal.NUMBER, stamp))
                .as("stamp %d", stamp)
                .isEqualTo(expected);
          }
        }
        journal.trim(40);
      }
    }
  }
}
