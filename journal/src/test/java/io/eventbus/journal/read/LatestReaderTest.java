package io.eventbus.journal.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.ReadHole;
import io.eventbus.journal.ReadHole.Reason;
import io.eventbus.journal.chunk.ChunkWriter;
import io.eventbus.journal.chunk.TestEvents;
import io.eventbus.journal.state.CounterRows;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.store.AppliedEntry;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreBatch;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.journal.store.TestStores;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LatestReaderTest {
  private static final int JOURNAL = 5;

  private final Path directory;
  private final LatestReader reader = new LatestReader(JOURNAL);
  private final Map<Long, Long> positions = new HashMap<>();
  private long last;

  LatestReaderTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private void publish(ShardStore store, long... topics) {
    for (long topic : topics) {
      last++;
      try (StoreBatch batch = store.begin()) {
        ChunkWriter writer =
            new ChunkWriter((chunk, index) -> batch.put(Keys.latest(JOURNAL, topic), chunk));
        writer.begin(JOURNAL, last, 5);
        ByteBuffer events = TestEvents.numbered(last, 1, 100);
        writer.append(TestEvents.head(topic, last), 1, events, 0, events.limit());
        writer.end();
        Long before = positions.put(topic, last);
        if (before != null) {
          batch.delete(Keys.latestPosition(JOURNAL, before));
        }
        byte[] value = ByteBuffer.allocate(8).putLong(topic).array();
        batch.put(Keys.latestPosition(JOURNAL, last), value);
        batch.put(Keys.journalCounters(JOURNAL), CounterRows.of(1, last));
        batch.commit(new AppliedEntry(1, last, 5));
      }
    }
  }

  private ReadBatch read(ShardStore store, long from, LongPredicate topics, long maxBytes) {
    try (StoreLease lease = store.lease()) {
      return Objects.requireNonNull(reader.read(lease, new ReadRequest(from, topics, maxBytes, 0)));
    }
  }

  private static List<String> parts(ReadBatch batch) {
    return batch.parts().stream().map(part -> part.topic() + "@" + part.position()).toList();
  }

  @Test
  void theLatestEventOfEachTopicComesInTheOrderOfPositions() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      publish(store, 1, 2, 1, 3, 2, 4, 2);
      ReadBatch batch = read(store, 1, topic -> topic != 4, Long.MAX_VALUE);
      assertThat(parts(batch)).containsExactly("1@3", "3@4", "2@7");
      assertThat(batch.to()).isEqualTo(7);
      assertThat(batch.holes()).isEmpty();
      assertThat(parts(read(store, 5, topic -> true, Long.MAX_VALUE)))
          .containsExactly("4@6", "2@7");
    }
  }

  @Test
  void whatChangesMeanwhileComesAtItsNewPosition() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      publish(store, 1, 2, 3, 4);
      ReadBatch first = read(store, 1, topic -> true, 100);
      assertThat(parts(first)).containsExactly("1@1");
      publish(store, 3, 1, 5);
      ReadBatch rest = read(store, first.to() + 1, topic -> true, Long.MAX_VALUE);
      assertThat(parts(rest)).containsExactly("2@2", "4@4", "3@5", "1@6", "5@7");
      assertThat(read(store, rest.to() + 1, topic -> true, 100).to()).isEqualTo(rest.to());
    }
  }

  @Test
  void aDamagedEventIsTold() throws IOException {
    try (ShardStore store = TestStores.open(directory)) {
      publish(store, 1, 2, 3);
      TestStores.put(store, 4, Keys.latest(JOURNAL, 2), new byte[50]);
      ReadBatch batch = read(store, 1, topic -> true, Long.MAX_VALUE);
      assertThat(parts(batch)).containsExactly("1@1", "3@3");
      assertThat(batch.holes()).containsExactly(new ReadHole(Reason.DAMAGED, 2, 2));
    }
  }
}
