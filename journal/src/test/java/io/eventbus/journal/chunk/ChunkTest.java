package io.eventbus.journal.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TypeCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class ChunkTest {
  private final StoredChunks stored = new StoredChunks();
  private final ChunkWriter writer = new ChunkWriter(stored);
  private final ChunkView view = new ChunkView();
  private final DeliverView deliver = new DeliverView();
  private final BodyReader in = new BodyReader();

  private void append(FrameHead head, ByteBuffer events, int count) {
    writer.append(head, count, events, 0, events.limit());
  }

  /** Reads the frame at which the view stands, and returns the index of what follows its groups. */
  private int readFrame() {
    in.wrap(view.chunk(), view.frameStart(), view.frameEnd());
    assertThat(in.readInt("type")).isEqualTo(TypeCode.DELIVER.code());
    int body = in.readLength("body", 1 << 24);
    assertThat(in.position() + body).isEqualTo(view.frameEnd());
    deliver.read(view.chunk(), in.position(), view.frameEnd(), FrameLimits.UNLIMITED);
    return deliver.eventsEnd() + 1;
  }

  @Test
  void partsAreFramesWithPositionsAndTheirOriginAtTheEnd() throws Exception {
    writer.begin(3, 100, 5_000);
    append(
        new FrameHead(8, "a.b".getBytes(StandardCharsets.UTF_8), 40, 77, 1_234, 9, 6, 6_000),
        TestEvents.numbered(100, 3, 10),
        3);
    append(TestEvents.head(2, 1), TestEvents.numbered(103, 1, 10), 1);
    writer.end();

    view.read(stored.chunks.get(0), 3, 100);
    assertThat(view.stamp()).isEqualTo(5_000);
    assertThat(view.lastPosition()).isEqualTo(103);
    assertThat(view.next()).isTrue();
    assertThat(view.topic()).isEqualTo(8);
    assertThat(view.position()).isEqualTo(100);
    assertThat(view.events()).isEqualTo(3);
    assertThat(view.expiry()).isEqualTo(6_000);
    in.position(readFrame());
    assertThat(in.readLong("originProducer")).isEqualTo(9);
    assertThat(in.readLong("originSequence")).isEqualTo(6);
    assertThat(in.atEnd()).isTrue();
    assertThat(deliver.topic()).isEqualTo("a.b");
    assertThat(deliver.producer()).isEqualTo(3);
    assertThat(deliver.sequence()).isEqualTo(40);
    assertThat(deliver.schema()).isEqualTo(77);
    assertThat(deliver.receivedAt()).isEqualTo(1_234);
    assertThat(deliver.offset()).isEqualTo(100);
    assertThat(deliver.groupCount()).isZero();
    assertThat(TestEvents.numbers(deliver.events())).containsExactly(100L, 101L, 102L);
    assertThat(view.next()).isTrue();
    assertThat(view.topic()).isEqualTo(2);
    assertThat(view.position()).isEqualTo(103);
    assertThat(view.expiry()).isZero();
    assertThat(view.next()).isFalse();

    ChunkIndex index = stored.indexes.get(0);
    assertThat(index.firstPosition()).isEqualTo(100);
    assertThat(index.lastPosition()).isEqualTo(103);
    assertThat(index.events()).isEqualTo(4);
    assertThat(index.bytes()).isEqualTo(stored.chunks.get(0).limit());
    assertThat(index.firstStamp()).isEqualTo(5_000);
    assertThat(index.lastStamp()).isEqualTo(5_000);
    assertThat(index.topics()).containsExactly(2, 8);
    assertThat(index.hasAny(topic -> topic == 2)).isTrue();
    assertThat(index.hasAny(topic -> topic == 3)).isFalse();
  }

  @Test
  void aWriterThatGotNothingWritesNothing() {
    writer.begin(3, 100, 5_000);
    writer.end();

    assertThat(stored.chunks).isEmpty();
  }

  @Test
  void eventsThatDoNotFitIntoAChunkGoOnInTheNext() throws Exception {
    int count = 2_000;
    writer.begin(1, 1, 5_000);
    append(TestEvents.head(4, 1), TestEvents.numbered(1, 10, 20), 10);
    append(TestEvents.head(5, 301), TestEvents.numbered(11, count, 100), count);
    append(TestEvents.head(4, 11), TestEvents.numbered(11 + count, 10, 20), 10);
    writer.end();

    assertThat(stored.chunks).hasSizeGreaterThan(6);
    long next = 1;
    long sequence = 301;
    for (int i = 0; i < stored.chunks.size(); i++) {
      assertThat(stored.chunks.get(i).limit()).isLessThanOrEqualTo(ChunkWriter.MAX_BYTES);
      view.read(stored.chunks.get(i), 1, next);
      assertThat(stored.indexes.get(i).firstPosition()).isEqualTo(next);
      while (view.next()) {
        assertThat(view.position()).isEqualTo(next);
        in.position(readFrame());
        assertThat(deliver.offset()).isEqualTo(next);
        if (view.topic() == 5) {
          assertThat(deliver.sequence()).isEqualTo(sequence);
          assertThat(in.readLong("originProducer")).isEqualTo(99);
          assertThat(in.readLong("originSequence")).isEqualTo(sequence + 500);
          sequence += view.events();
        }
        for (long number : TestEvents.numbers(deliver.events())) {
          assertThat(number).isEqualTo(next++);
        }
      }
      assertThat(view.lastPosition()).isEqualTo(next - 1);
      assertThat(stored.indexes.get(i).lastPosition()).isEqualTo(next - 1);
    }
    assertThat(next).isEqualTo(count + 21);
  }

  @Test
  void aChunkIsFilledBeforeEventsGoIntoTheNext() {
    writer.begin(1, 1, 5_000);
    append(TestEvents.head(5, 1), TestEvents.numbered(1, 3_000, 100), 3_000);
    writer.end();

    for (ByteBuffer chunk : stored.chunks.subList(0, stored.chunks.size() - 1)) {
      assertThat(chunk.limit()).isGreaterThan(ChunkWriter.MAX_BYTES - 110);
    }
  }

  @Test
  void anEventThatIsLargerThanAChunkIsAloneInOne() throws Exception {
    writer.begin(1, 1, 5_000);
    append(TestEvents.head(1, 1), TestEvents.numbered(1, 1, 10), 1);
    append(TestEvents.head(1, 2), TestEvents.numbered(2, 1, 2 << 20), 1);
    append(
        TestEvents.head(1, 3),
        TestEvents.of(new byte[10], new byte[40_000], new byte[50_000], new byte[10]),
        4);
    writer.end();

    List<Integer> events = new ArrayList<>();
    for (int i = 0; i < stored.chunks.size(); i++) {
      ChunkIndex index = stored.indexes.get(i);
      view.read(stored.chunks.get(i), 1, index.firstPosition());
      events.add(index.events());
    }
    assertThat(events).containsExactly(1, 1, 1, 1, 1, 1);
    assertThat(stored.indexes.get(5).lastPosition()).isEqualTo(6);
  }

  @Test
  void theFormatIsTheOneThatWasWrittenBefore() throws IOException {
    writer.begin(3, 100, 5_000);
    append(
        new FrameHead(8, "a.b".getBytes(StandardCharsets.UTF_8), 40, 77, 1_234, 9, 6, 6_000),
        TestEvents.numbered(100, 3, 10),
        3);
    writer.skip(2);
    append(TestEvents.head(2, 1), TestEvents.numbered(103, 1, 10), 1);
    writer.end();

    HexFormat hex = HexFormat.of();
    assertThat(hex.formatHex(stored.chunks.get(0).array())).isEqualTo(golden("chunk-1.hex"));
    assertThat(hex.formatHex(stored.indexes.get(0).encode()))
        .isEqualTo(golden("chunk-index-1.hex"));
  }

  private static String golden(String name) throws IOException {
    try (InputStream file =
        Objects.requireNonNull(ChunkTest.class.getResourceAsStream("/golden/" + name), name)) {
      return new String(file.readAllBytes(), StandardCharsets.US_ASCII).strip();
    }
  }

  private ByteBuffer small() {
    writer.begin(3, 100, 5_000);
    append(TestEvents.head(8, 1), TestEvents.numbered(100, 3, 10), 3);
    append(TestEvents.head(2, 1), TestEvents.numbered(103, 1, 10), 1);
    writer.end();
    return stored.chunks.get(0);
  }

  @Test
  void everyChangedByteIsFound() throws Exception {
    ByteBuffer chunk = small();
    view.read(chunk, 3, 100);
    for (int i = 0; i < chunk.limit(); i++) {
      for (int bit = 0; bit < 8; bit++) {
        byte before = chunk.get(i);
        chunk.put(i, (byte) (before ^ (1 << bit)));
        assertThatThrownBy(() -> view.read(chunk, 3, 100))
            .as("byte %d, bit %d", i, bit)
            .isInstanceOf(ChunkFormatException.class)
            .hasMessageStartingWith("chunk of journal 3 at position 100: ");
        chunk.put(i, before);
      }
    }
    view.read(chunk, 3, 100);
  }

  @Test
  void everyLostEndIsFound() {
    ByteBuffer chunk = small();
    for (int i = 0; i < chunk.limit(); i++) {
      ByteBuffer cut = chunk.slice(0, i);
      assertThatThrownBy(() -> view.read(cut, 3, 100)).isInstanceOf(ChunkFormatException.class);
    }
  }

  @Test
  void aChunkThatLiesAtTheKeyOfAnotherIsFound() {
    ByteBuffer chunk = small();
    assertThatThrownBy(() -> view.read(chunk, 4, 100)).isInstanceOf(ChunkFormatException.class);
    assertThatThrownBy(() -> view.read(chunk, 3, 101)).isInstanceOf(ChunkFormatException.class);
  }

  @Test
  void anIndexRowIsReadAsItWasWritten() throws Exception {
    long[] topics = {1, 2, 500, 70_000_000_000L};
    ChunkIndex index = new ChunkIndex(1L << 40, 9, 5, 31_000, 1_000, 1_500, topics);
    ChunkIndex read = ChunkIndex.decode(1L << 40, index.encode());

    assertThat(read.firstPosition()).isEqualTo(1L << 40);
    assertThat(read.lastPosition()).isEqualTo((1L << 40) + 8);
    assertThat(read.events()).isEqualTo(5);
    assertThat(read.bytes()).isEqualTo(31_000);
    assertThat(read.firstStamp()).isEqualTo(1_000);
    assertThat(read.lastStamp()).isEqualTo(1_500);
    assertThat(read.topics()).containsExactly(topics);
  }

  @Test
  void anIndexRowThatIsNoSuchRowIsRefused() {
    byte[] value = new ChunkIndex(7, 9, 5, 31_000, 1_000, 1_500, new long[] {1, 2}).encode();
    byte[] longer = new byte[value.length + 1];
    System.arraycopy(value, 0, longer, 0, value.length);
    assertThatThrownBy(() -> ChunkIndex.decode(7, longer))
        .isInstanceOf(ChunkFormatException.class)
        .hasMessageStartingWith("index of the chunk at position 7: ");
    for (int i = 0; i < value.length; i++) {
      byte[] cut = new byte[i];
      System.arraycopy(value, 0, cut, 0, i);
      assertThatThrownBy(() -> ChunkIndex.decode(7, cut)).isInstanceOf(ChunkFormatException.class);
    }
    assertThatThrownBy(() -> ChunkIndex.decode(0, value)).isInstanceOf(ChunkFormatException.class);
  }
}
