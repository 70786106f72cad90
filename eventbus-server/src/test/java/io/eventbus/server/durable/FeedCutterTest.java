package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.Retention;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.durable.FeedCutter.Portion;
import io.eventbus.server.durable.FeedCutter.Span;
import io.eventbus.server.memory.BusMemory;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FeedCutterTest {
  private static final int FRAMES = 40;

  private final FakeJournals journals = new FakeJournals();
  private final BusMemory memory = new BusMemory(1 << 30);
  private final List<FeedPiece> pieces = new ArrayList<>();
  private long last;

  /** Event in a frame, with everything that a cut has to keep. */
  private record Event(
      long position,
      String topic,
      long sequence,
      long originSequence,
      long producer,
      String payload) {}

  @AfterEach
  void release() {
    pieces.forEach(FeedPiece::release);
    assertThat(memory.used()).isZero();
  }

  private ByteBuffer stored(Random random, int maxPayload) {
    var unused =
        journals.create(
            new JournalDefinition(
                "a",
                List.of(TopicFilter.parse("a.>")),
                KeepPolicy.ALL,
                Retention.UNLIMITED,
                FullPolicy.DROP_OLD));
    long[] next = {1, 1, 1};
    for (int i = 0; i < FRAMES; i++) {
      int topic = random.nextInt(next.length);
      String[] payloads =
          IntStream.rangeClosed(0, random.nextInt(9))
              .mapToObj(n -> "x".repeat(random.nextInt(maxPayload)) + n)
              .toArray(String[]::new);
      FakeEvents.publish(journals, 1, "a." + topic, next[topic], payloads);
      next[topic] += payloads.length;
      last += payloads.length;
    }
    ReadBatch batch =
        Objects.requireNonNull(
            journals.reader(1, TopicFilter.parse("a.*")).read(1, Integer.MAX_VALUE));
    pieces.addAll(FeedPieces.of(batch, new UnpooledByteBufAllocator(true), memory));
    assertThat(pieces).hasSize(1);
    Delivery frames = Objects.requireNonNull(pieces.get(0).frames());
    return frames.frame();
  }

  private static List<Event> events(ByteBuffer in) {
    List<Event> all = new ArrayList<>();
    FrameCursor frame = new FrameCursor().wrap(in, in.position(), in.limit());
    DeliverView view = new DeliverView();
    while (frame.next()) {
      // As a bus that passes it on, and as a client.
      view.readOneBlock(in, frame.bodyStart(), frame.bodyEnd());
      view.read(in, frame.bodyStart(), frame.bodyEnd(), FrameLimits.UNLIMITED);
      for (EventCursor event = view.events(); event.next(); ) {
        all.add(
            new Event(
                view.offset() + event.index(),
                view.topic(),
                view.sequence() + event.index(),
                view.originSequence() + event.index(),
                view.originProducer(),
                new String(event.payload(), StandardCharsets.UTF_8)));
      }
    }
    return all;
  }

  @Test
  void anyCutsTogetherAreTheWhole() {
    Random random = new Random(1);
    ByteBuffer stored = stored(random, 600);
    List<Event> whole = events(stored);
    assertThat(whole).hasSize((int) last);
    for (int round = 0; round < 400; round++) {
      long from = random.nextLong(1, last + 1);
      long to = random.nextLong(from, last + 3);
      FeedCutter cutter = new FeedCutter(stored, from, to);
      List<Event> got = new ArrayList<>();
      int max = 1 + random.nextInt(FeedCutter.MAX_EVENTS);
      for (Portion next = cutter.next(max); next != null; next = cutter.next(max)) {
        List<Event> part = new ArrayList<>();
        next.frames().forEach(frame -> part.addAll(events(frame)));
        assertThat(next.events()).isEqualTo(part.size()).isBetween(1, max);
        assertThat(next.bytes())
            .isEqualTo(next.frames().stream().mapToInt(ByteBuffer::remaining).sum());
        assertThat(next.bytes() <= FeedCutter.MAX_BYTES || next.events() == 1).isTrue();
        List<Long> positions = new ArrayList<>();
        for (Span span : next.spans()) {
          for (long i = span.from(); i <= span.to(); i++) {
            positions.add(i);
          }
        }
        assertThat(positions).isEqualTo(part.stream().map(Event::position).toList());
        got.addAll(part);
        max = 1 + random.nextInt(FeedCutter.MAX_EVENTS);
      }
      assertThat(got)
          .as("%d..%d", from, to)
          .isEqualTo(
              whole.stream().filter(e -> e.position() >= from && e.position() <= to).toList());
    }
  }

  @Test
  void anEventThatIsLargerThanAPortionComesAlone() {
    ByteBuffer stored = stored(new Random(2), 3 * FeedCutter.MAX_BYTES);
    FeedCutter cutter = new FeedCutter(stored, 1, last);
    int events = 0;
    int large = 0;
    for (Portion next = cutter.next(64); next != null; next = cutter.next(64)) {
      events += next.events();
      if (next.bytes() > FeedCutter.MAX_BYTES) {
        large++;
        assertThat(next.events()).isEqualTo(1);
      }
    }
    assertThat(events).isEqualTo((int) last);
    assertThat(large).isPositive();
  }

  @Test
  void aFrameThatIsWantedWholeIsNotWrittenAgain() {
    ByteBuffer stored = stored(new Random(3), 10);
    FeedCutter cutter = new FeedCutter(stored, 1, last);
    Portion first = Objects.requireNonNull(cutter.next(FeedCutter.MAX_EVENTS));
    ByteBuffer frame = first.frames().get(0);
    assertThat(frame.isDirect()).as("a view of what is stored").isEqualTo(stored.isDirect());
    assertThat(frame.limit()).isGreaterThan(0);
    assertThat(frame.position()).isEqualTo(stored.position());
  }

  @Test
  void aRangeWithoutAnEventGivesNothing() {
    ByteBuffer stored = stored(new Random(4), 10);
    assertThat(new FeedCutter(stored, last + 1, last + 9).next(1)).isNull();
    assertThat(new FeedCutter(stored.duplicate().limit(stored.position()), 1, last).next(1))
        .isNull();
  }
}
