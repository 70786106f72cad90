package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.schema.Deliver;
import io.eventbus.schema.Event;
import io.eventbus.schema.Publish;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits of the views and the cursors: accepted input, and the place where they stop. */
class FramesTest {
  // Bytes of the fields behind the events, with their defaults.
  private static final int PUBLISH_TAIL = 5;

  private static final FrameLimits SMALL = new FrameLimits(4, 2, 6);

  @Test
  void theLimitsAreOfEachEvent() {
    read(SMALL, event("k", Map.of("ab", "c", "de", "f"), 4), event(null, Map.of("abc", "def"), 4));

    assertTooBig("Event.payload length: 5", event(null, Map.of(), 5));
    assertTooBig("Event.headers count: 3", event(null, Map.of("a", "", "b", "", "c", ""), 0));
    assertTooBig("Event.headers value length: 4", event(null, Map.of("abc", "defg"), 0));
    assertTooBig("Event.headers name length: 7", event(null, Map.of("abcdefg", ""), 0));
    assertTooBig("Event.key length: 4097", event("k".repeat(4097), Map.of(), 0));
    read(SMALL, event("k".repeat(4096), Map.of(), 0));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void theLimitOfHeadersIsOfAllBlocksTogether(long seed) {
    Publish publish = publish(1, event(null, Map.of("a", "", "b", "", "c", ""), 0));
    byte[] body = AnyBlocksEncoder.encode(publish, seed);
    assertThatThrownBy(() -> new PublishView().read(ByteBuffer.wrap(body), 0, body.length, SMALL))
        .hasMessageStartingWith("Event.headers count: 3");
  }

  private static void assertTooBig(String message, Event event) {
    assertThatThrownBy(() -> read(SMALL, event))
        .isInstanceOfSatisfying(
            MalformedFrameException.class,
            e -> {
              assertThat(e.isTooBig()).isTrue();
              assertThat(e).hasMessageStartingWith(message);
            });
  }

  @Test
  void aPublishNeedsAnEvent() {
    assertThatThrownBy(() -> Bodies.read(TypeCode.PUBLISH, Bodies.avro(publish(1))))
        .hasMessageStartingWith("Publish.events: no event");
  }

  @Test
  void aPublishHasABoundedNumberOfEvents() {
    Event[] events = new Event[FrameLimits.MAX_PUBLISHED_EVENTS + 1];
    Arrays.fill(events, event(null, Map.of(), 0));
    read(SMALL, Arrays.copyOf(events, events.length - 1));
    assertThatThrownBy(() -> read(SMALL, events))
        .isInstanceOfSatisfying(
            MalformedFrameException.class,
            e -> {
              assertThat(e.isTooBig()).isTrue();
              assertThat(e).hasMessageStartingWith("Publish.events count: 65537");
            });
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE, Long.MAX_VALUE})
  void sequencesCountFromOneAndDoNotOverflow(long sequence) {
    Event event = event(null, Map.of(), 0);
    assertThatThrownBy(() -> Bodies.read(TypeCode.PUBLISH, Bodies.avro(publish(sequence, event))))
        .hasMessageStartingWith("Publish.sequence: " + sequence);
    Deliver deliver =
        new Deliver("t", 1L, sequence, 0L, 0L, -1L, List.of(event), List.of(), 0L, 0L);
    assertThatThrownBy(() -> Bodies.read(TypeCode.DELIVER, Bodies.avro(deliver)))
        .hasMessageStartingWith("Deliver.sequence: " + sequence);
  }

  @Test
  void afterARefusalTheHeadIsThereAndTheEventsAreNot() {
    PublishView view = new PublishView();
    byte[] good = Bodies.avro(publish(5, event(null, Map.of(), 1), event(null, Map.of(), 1)));
    view.read(ByteBuffer.wrap(good), 0, good.length, FrameLimits.DEFAULT);
    assertThat(view.eventCount()).isEqualTo(2);
    byte[] bad = Bodies.avro(publish(9, event(null, Map.of(), 5)));

    assertThatThrownBy(() -> view.read(ByteBuffer.wrap(bad), 0, bad.length, SMALL))
        .isInstanceOf(MalformedFrameException.class);
    assertThat(view.topic()).isEqualTo("t");
    assertThat(view.sequence()).isEqualTo(9);
    assertThat(view.eventCount()).isZero();

    assertThatThrownBy(() -> view.read(ByteBuffer.wrap(bad), 0, 1, SMALL))
        .isInstanceOf(MalformedFrameException.class);
    assertThat(view.topicLength()).isZero();
    assertThat(view.sequence()).isZero();
  }

  @Test
  void aTopicThatIsTooLongIsShownByItsBeginning() {
    String longest = "t".repeat(Topic.MAX_BYTES);
    assertThat(refusedTopic(longest + "t")).isEqualTo("t".repeat(252) + "\u2026");
    // Not cut inside a character, whichever byte of it comes there.
    for (String before : List.of("", "a", "ab", "abc")) {
      String shown = refusedTopic(before + "\ud83d\ude80".repeat(100));
      assertThat(shown).matches(before + "(\ud83d\ude80){62,63}\u2026");
      assertThat(shown.getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(Topic.MAX_BYTES);
    }
    PublishView view = new PublishView();
    byte[] broken = new byte[310];
    Arrays.fill(broken, (byte) 0xBF);
    Varint.write(ByteBuffer.wrap(broken), 300);
    assertThatThrownBy(() -> view.read(ByteBuffer.wrap(broken), 0, 310, FrameLimits.DEFAULT))
        .hasMessage("Publish.topic length: 300 at byte 0 (expected: at most 255)");
    assertThat(view.shownTopic()).isEqualTo("\u2026");
    // A length that goes past the frame leaves nothing to show.
    assertThatThrownBy(() -> view.read(ByteBuffer.wrap(broken), 0, 200, FrameLimits.DEFAULT))
        .hasMessageStartingWith("Publish.topic length: 300");
    assertThat(view.shownTopic()).isEmpty();
    assertThat(view.sequence()).isZero();
  }

  private static String refusedTopic(String topic) {
    Publish publish =
        new Publish(topic, 9L, 0L, true, List.of(event(null, Map.of(), 1)), 0L, 0L, 0L, null, 0L);
    byte[] body = Bodies.avro(publish);
    PublishView view = new PublishView();
    assertThatThrownBy(() -> view.read(ByteBuffer.wrap(body), 0, body.length, FrameLimits.DEFAULT))
        .isInstanceOfSatisfying(
            MalformedFrameException.class, e -> assertThat(e.isTooBig()).isTrue());
    assertThat(view.sequence()).isEqualTo(9);
    return view.shownTopic();
  }

  @Test
  void manyGroupsAreReadAndTooManyRefused() {
    List<Long> most = LongStream.range(0, 10_000).boxed().toList();
    Deliver deliver = new Deliver("t", 1L, 1L, 0L, 0L, -1L, List.of(), most, 0L, 0L);
    assertThat(Bodies.read(TypeCode.DELIVER, Bodies.avro(deliver))).isEqualTo(deliver);

    List<Long> tooMany = new ArrayList<>(most);
    tooMany.add(1L);
    deliver.setGroups(tooMany);
    assertThatThrownBy(() -> Bodies.read(TypeCode.DELIVER, Bodies.avro(deliver)))
        .hasMessageStartingWith("Deliver.groups count: 10001");
  }

  @Test
  void aGroupIndexIsChecked() {
    DeliverView view = new DeliverView();
    assertThatThrownBy(() -> view.group(0)).hasMessage("group: 0 (expected: 0..-1)");
  }

  @Test
  void ofTwoHeadersWithOneNameTheLastCounts() {
    byte[] body = {
      2, 't', 2, 0, 0, 2, 0, 0, 4, 2, 'n', 2, '1', 2, 'n', 2, '2', 0, 0, 0,
    };
    Publish publish = (Publish) Bodies.read(TypeCode.PUBLISH, body);
    assertThat(publish.getEvents().get(0).getHeaders()).containsExactly(Map.entry("n", "2"));
    // The library wants the fields behind the events, too: their bytes are the defaults.
    byte[] whole = Arrays.copyOf(body, body.length + PUBLISH_TAIL);
    assertThat(publish).isEqualTo(Bodies.avro(Publish.getClassSchema(), whole));
  }

  @Test
  void theCursorTellsWhereEachPartIs() {
    byte[] body = Bodies.avro(publish(1, event("key", Map.of("a", "b"), 2)));
    ByteBuffer buf = Bodies.surrounded(body, 5, 5, 0, true);
    // Topic (2 bytes), sequence, schema, confirm: the array follows.
    EventCursor cursor = new EventCursor().wrap(buf, 10, 5 + body.length, FrameLimits.DEFAULT);

    assertThat(cursor.next()).isTrue();
    assertThat(cursor.index()).isZero();
    assertThat(cursor.eventStart()).isEqualTo(11);
    assertThat(cursor.eventEnd()).isEqualTo(cursor.payloadStart() + 2);
    assertThat(cursor.payloadLength()).isEqualTo(2);
    assertThat(cursor.publishedAt()).isEqualTo(1);
    assertThat(cursor.key()).isEqualTo("key");
    assertThat(cursor.headerCount()).isEqualTo(1);
    // Reading the headers does not move the walk.
    assertThat(cursor.headers()).isEqualTo(Map.of("a", "b"));
    assertThat(cursor.next()).isFalse();
    assertThat(cursor.next()).isFalse();
    assertThat(cursor.arrayEnd()).isEqualTo(5 + body.length - PUBLISH_TAIL);
  }

  @Test
  void headersAreEncodedInTheirOrder() {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("z", "ü");
    headers.put("a", "");
    EncodedHeaders encoded = EncodedHeaders.of(headers);
    assertThat(encoded.count()).isEqualTo(2);
    assertThat(encoded.textBytes()).isEqualTo(4);
    assertThat(encoded.size()).isEqualTo(11);
    ByteBuffer out = ByteBuffer.allocate(11);
    encoded.write(out);
    assertThat(out.array())
        .isEqualTo(new byte[] {3, 16, 2, 'z', 4, (byte) 0xC3, (byte) 0xBC, 2, 'a', 0, 0});
    assertThat(EncodedHeaders.of(Map.of())).isSameAs(EncodedHeaders.NONE);
    assertThat(EncodedHeaders.NONE.size()).isEqualTo(1);
  }

  @Test
  void theLimitsAreChecked() {
    assertThatThrownBy(() -> new FrameLimits(0, 0, 0))
        .hasMessage("payloadBytes: 0 (expected: >= 1)");
    assertThatThrownBy(() -> new FrameLimits(1, -1, 0)).hasMessage("headers: -1 (expected: >= 0)");
    assertThatThrownBy(() -> new FrameLimits(1, 0, -1))
        .hasMessage("headerBytes: -1 (expected: >= 0)");
  }

  @Test
  void anEmptyMessageHasNoFrame() {
    assertThat(new FrameCursor().wrap(ByteBuffer.allocate(4), 2, 2).next()).isFalse();
  }

  @Test
  void aFrameOfAnUnknownTypeIsSkipped() {
    byte[] message = {(byte) 0xFE, 1, 6, 9, 9, 9, 22, 2, 4};
    FrameCursor cursor = new FrameCursor().wrap(ByteBuffer.wrap(message), 0, message.length);
    assertThat(cursor.next()).isTrue();
    assertThat(cursor.typeCode()).isEqualTo(127);
    assertThat(cursor.bodyEnd() - cursor.bodyStart()).isEqualTo(3);
    assertThat(cursor.next()).isTrue();
    assertThat(cursor.typeCode()).isEqualTo(TypeCode.BARRIER.code());
    assertThat(cursor.next()).isFalse();
  }

  private static PublishView read(FrameLimits limits, Event... events) {
    byte[] body = Bodies.avro(publish(1, events));
    PublishView view = new PublishView();
    view.read(ByteBuffer.wrap(body), 0, body.length, limits);
    return view;
  }

  private static Publish publish(long sequence, Event... events) {
    return new Publish("t", sequence, 0L, false, List.of(events), 0L, 0L, 0L, null, 0L);
  }

  private static Event event(@Nullable String key, Map<String, String> headers, int payload) {
    byte[] bytes = "x".repeat(payload).getBytes(StandardCharsets.UTF_8);
    return new Event(1L, key, headers, ByteBuffer.wrap(bytes));
  }
}
