package io.eventbus.journal.chunk;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameLimits;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ChunkPurgeTest {
  private final ChunkView view = new ChunkView();
  private final DeliverView deliver = new DeliverView();
  private final BodyReader in = new BodyReader();

  /** Event of a chunk with the facts that a purge must not change. */
  private record Event(
      long topic, long sequence, long schema, long receivedAt, long originSequence, long expiry) {}

  private Map<Long, Event> events(ByteBuffer chunk) throws ChunkFormatException {
    Map<Long, Event> events = new TreeMap<>();
    view.read(chunk, 1, 50);
    while (view.next()) {
      in.wrap(chunk, view.frameStart(), view.frameEnd());
      in.readInt("type");
      in.readInt("body");
      deliver.read(chunk, in.position(), view.frameEnd(), FrameLimits.UNLIMITED);
      in.position(deliver.eventsEnd() + 1);
      assertThat(in.readLong("originProducer")).isEqualTo(99);
      long origin = in.readLong("originSequence");
      assertThat(deliver.offset()).isEqualTo(view.position());
      List<Long> numbers = TestEvents.numbers(deliver.events());
      assertThat(numbers).hasSize(view.events());
      for (int i = 0; i < numbers.size(); i++) {
        assertThat(numbers.get(i)).isEqualTo(view.position() + i);
        events.put(
            view.position() + i,
            new Event(
                view.topic(),
                deliver.sequence() + i,
                deliver.schema(),
                deliver.receivedAt(),
                origin + i,
                view.expiry()));
      }
    }
    return events;
  }

  private static ByteBuffer random(Random random) {
    StoredChunks stored = new StoredChunks();
    ChunkWriter writer = new ChunkWriter(stored);
    writer.begin(1, 50, 5_000);
    long position = 50;
    for (int part = random.nextInt(1, 8); part > 0; part--) {
      int count = random.nextInt(1, 6);
      ByteBuffer events = TestEvents.numbered(position, count, random.nextInt(5, 60));
      FrameHead head = TestEvents.head(random.nextInt(3), random.nextInt(1, 1_000));
      writer.append(head, count, events, 0, events.limit());
      position += count;
    }
    writer.end();
    return stored.chunks.get(0);
  }

  @Test
  void whatTheRuleNamesIsGoneAndAllElseIsAsItWas() throws Exception {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      ByteBuffer chunk = random(random);
      Map<Long, Event> expected = events(chunk);
      long last = view.lastPosition();
      // Twice, because a chunk may have holes before a purge.
      for (int round = 0; round < 2; round++) {
        long purgedTopic = random.nextInt(6);
        long purgedPosition = 50L + random.nextInt(20);
        ChunkPurge.Rule rule =
            (topic, position) -> topic == purgedTopic || position == purgedPosition;
        StoredChunks rewritten = new StoredChunks();
        view.read(chunk, 1, 50);
        new ChunkPurge().rewrite(view, rule, new ChunkWriter(rewritten));
        assertThat(rewritten.chunks).hasSize(1);
        chunk = rewritten.chunks.get(0);
        expected.entrySet().removeIf(e -> rule.removes(e.getValue().topic(), e.getKey()));

        assertThat(events(chunk)).as("seed %d", seed).isEqualTo(expected);
        assertThat(view.lastPosition()).isEqualTo(last);
        assertThat(view.stamp()).isEqualTo(5_000);
        ChunkIndex index = rewritten.indexes.get(0);
        assertThat(index.events()).isEqualTo(expected.size());
        assertThat(index.lastPosition()).isEqualTo(last);
        assertThat(index.bytes()).isEqualTo(chunk.limit());
        assertThat(index.topics())
            .containsExactly(
                expected.values().stream().mapToLong(Event::topic).sorted().distinct().toArray());
      }
    }
  }

  @Test
  void aChunkThatGrowsBecauseItsPartsAreCutStaysOneChunk() throws Exception {
    StoredChunks stored = new StoredChunks();
    ChunkWriter writer = new ChunkWriter(stored);
    writer.begin(1, 50, 5_000);
    int count = 2_000;
    ByteBuffer events = TestEvents.numbered(50, count, 8);
    writer.append(TestEvents.head(1, 1), count, events, 0, events.limit());
    writer.end();
    List<Long> positions = new ArrayList<>(events(stored.chunks.get(0)).keySet());
    positions.removeIf(position -> position % 3 == 0);

    StoredChunks rewritten = new StoredChunks();
    view.read(stored.chunks.get(0), 1, 50);
    new ChunkPurge()
        .rewrite(view, (topic, position) -> position % 3 == 0, new ChunkWriter(rewritten));

    assertThat(rewritten.chunks).hasSize(1);
    assertThat(rewritten.chunks.get(0).limit()).isGreaterThan(ChunkWriter.MAX_BYTES);
    assertThat(events(rewritten.chunks.get(0)).keySet()).containsExactlyElementsOf(positions);
  }
}
