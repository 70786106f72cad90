package io.eventbus.journal.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.ReadHole;
import io.eventbus.journal.ReadPart;
import io.eventbus.journal.chunk.TestEvents;
import io.eventbus.journal.read.TestJournal.Event;
import io.eventbus.journal.read.TestJournal.Fate;
import io.eventbus.journal.read.TestJournal.Part;
import io.eventbus.journal.rows.Rows;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.journal.store.TestStores;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameLimits;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random journals, with everything that can happen to them, against a plain list. */
class JournalReaderModelTest {
  private static final long NOW = 10_000;

  private final Path directory;
  private final DeliverView deliver = new DeliverView();
  private final BodyReader in = new BodyReader();

  JournalReaderModelTest(@TempDir Path directory) {
    this.directory = directory;
  }

  @Test
  void aReaderGetsEveryEventOrIsTold() throws IOException {
    for (int seed = 0; seed < 20; seed++) {
      try (ShardStore store = TestStores.open(directory.resolve("store-" + seed))) {
        Random random = new Random(seed);
        TestJournal journal = new TestJournal(store);
        for (int i = random.nextInt(1, 30); i > 0; i--) {
          step(journal, random);
        }
        for (int i = 0; i < 10; i++) {
          check(store, journal, random, "seed " + seed);
        }
      }
    }
  }

  private static void step(TestJournal journal, Random random) {
    int kind = journal.chunks.isEmpty() ? 0 : random.nextInt(8);
    if (kind < 4) {
      Part[] parts = new Part[random.nextInt(1, 6)];
      for (int i = 0; i < parts.length; i++) {
        int payload = random.nextInt(20) == 0 ? 40_000 : random.nextInt(5, 3_000);
        parts[i] = new Part(random.nextInt(4), random.nextInt(1, 20), payload, expiry(random));
      }
      journal.append(5_000, parts);
      return;
    }
    long position = random.nextLong(journal.first(), journal.last() + 1);
    long chunk = journal.chunks.floorKey(position);
    if (kind == 4) {
      journal.trim(position);
    } else if (Objects.requireNonNull(journal.events.get(position)).fate == Fate.DAMAGED) {
      // Damaged before.
      return;
    } else if (kind < 7) {
      long topic = random.nextInt(8);
      journal.purge(chunk, (t, p) -> t == topic || p == position);
    } else {
      journal.damage(chunk, rows -> damage(rows, chunk, random));
    }
  }

  private static long expiry(Random random) {
    return random.nextInt(3) == 0 ? random.nextLong(NOW - 1, NOW + 2) : 0;
  }

  private static void damage(Rows rows, long chunk, Random random) {
    byte[] key = Keys.chunk(TestJournal.NUMBER, chunk);
    byte[] bytes = Objects.requireNonNull(rows.get(key));
    switch (random.nextInt(4)) {
      case 0 -> rows.delete(key);
      case 1 -> rows.delete(Keys.chunkIndex(TestJournal.NUMBER, chunk));
      case 2 -> rows.put(Keys.chunkIndex(TestJournal.NUMBER, chunk), new byte[] {1, 2, 3});
      default -> {
        bytes[random.nextInt(bytes.length)] ^= 4;
        rows.put(key, bytes);
      }
    }
  }

  private void check(ShardStore store, TestJournal journal, Random random, String name) {
    int wanted = random.nextInt(16);
    LongPredicate topics = topic -> (wanted & (1 << topic)) != 0;
    long from = random.nextLong(1, journal.last() + 3);
    TreeMap<Long, String> got = new TreeMap<>();
    JournalReader reader = new JournalReader(TestJournal.NUMBER);
    long next = from;
    while (true) {
      ReadRequest request = new ReadRequest(next, topics, random.nextInt(1, 100_000), NOW);
      ReadBatch batch;
      try (StoreLease lease = store.lease()) {
        batch = Objects.requireNonNull(reader.read(lease, request));
      }
      assertThat(batch.from()).isEqualTo(next);
      assertThat(batch.bytes()).isLessThan(request.maxBytes() + 50_000);
      batch.parts().forEach(part -> add(part, request.from(), got));
      batch.holes().forEach(hole -> add(hole, got));
      if (batch.to() < next) {
        break;
      }
      next = batch.to() + 1;
    }
    assertThat(next).isEqualTo(Math.max(from, journal.last() + 1));
    for (var entry : journal.events.tailMap(from).entrySet()) {
      Event event = entry.getValue();
      String found = got.remove(entry.getKey());
      if (event.fate == Fate.THERE && topics.test(event.topic)) {
        boolean isExpired = event.expiry != 0 && event.expiry <= NOW;
        assertThat(found)
            .as("%s, position %d", name, entry.getKey())
            .isEqualTo(isExpired ? "EXPIRED" : "topic " + event.topic);
      } else if (topics.test(event.topic) || found != null) {
        assertThat(found)
            .as("%s, position %d", name, entry.getKey())
            .isEqualTo(event.fate.toString());
      }
    }
    assertThat(got).as(name).isEmpty();
  }

  private void add(ReadPart part, long from, Map<Long, String> got) {
    in.wrap(part.frame(), 0, part.frame().limit());
    in.readInt("type");
    in.readInt("body");
    deliver.read(part.frame(), in.position(), part.frame().limit(), FrameLimits.UNLIMITED);
    assertThat(deliver.topic()).isEqualTo("topic." + part.topic());
    long position = part.position();
    for (long number : TestEvents.numbers(deliver.events())) {
      assertThat(number).isEqualTo(position);
      if (position >= from) {
        assertThat(got.put(position, "topic " + part.topic())).isNull();
      }
      position++;
    }
    assertThat(position).isEqualTo(part.position() + part.events());
  }

  private static void add(ReadHole hole, Map<Long, String> got) {
    for (long position = hole.from(); position <= hole.to(); position++) {
      assertThat(got.put(position, hole.reason().toString())).isNull();
    }
  }
}
