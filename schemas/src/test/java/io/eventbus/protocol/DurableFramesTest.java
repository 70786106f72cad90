package io.eventbus.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.schema.Ask;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Deliver;
import io.eventbus.schema.Event;
import io.eventbus.schema.Feed;
import io.eventbus.schema.Publish;
import io.eventbus.schema.Settle;
import io.eventbus.schema.SettleOutcome;
import io.eventbus.schema.Truncated;
import io.eventbus.schema.TruncatedReason;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurableFramesTest {
  private static final String LONGEST = "x".repeat(FrameLimits.MAX_JOURNAL_BYTES);

  @ParameterizedTest
  @CsvSource({"1, 0", "1, 1", "64, 63", "1099511627776, 64", "9223372036854775797, 2147483647"})
  void aFeedIsWrittenAroundReadyFrames(long from, int attempt) {
    byte[] deliver = ProtocolDocument.frame(TypeCode.DELIVER);
    ByteBuffer out =
        ByteBuffer.allocate(
            DurableFrames.feedSize(4, from, from + 3, from + 9, deliver.length, attempt));

    DurableFrames.writeFeedHead(out, 4, from, from + 3, from + 9, deliver.length, attempt);
    out.put(deliver);
    DurableFrames.writeAttempt(out, attempt);

    assertThat(out.hasRemaining()).isFalse();
    Feed feed = new Feed(4L, from, from + 3, from + 9, ByteBuffer.wrap(deliver), attempt);
    if (attempt != 0) {
      assertThat(out.array()).isEqualTo(ControlFrames.encode(TypeCode.FEED, feed));
    }
    FeedView view = new FeedView();
    FrameCursor cursor = new FrameCursor().wrap(out, 0, out.capacity());
    assertThat(cursor.next()).isTrue();
    view.read(out, cursor.bodyStart(), cursor.bodyEnd());
    assertThat(Bodies.feed(out, cursor.bodyStart(), cursor.bodyEnd())).isEqualTo(feed);
    FrameCursor inside = new FrameCursor().wrap(out, view.framesStart(), view.framesEnd());
    assertThat(inside.next()).isTrue();
    assertThat(inside.typeCode()).isEqualTo(TypeCode.DELIVER.code());
    assertThat(inside.next()).isFalse();
  }

  @Test
  void aFeedCoversARangeUpToItsHead() {
    assertRefused(feed(0, 0, 0), "Feed.from: 0 at byte 1 (expected: at least 1)");
    assertRefused(feed(5, 3, 9), "Feed.to: 3 at byte 2 (expected: at least 4)");
    assertRefused(feed(5, 7, 6), "Feed.head: 6 at byte 3 (expected: at least 7)");
    Bodies.read(TypeCode.FEED, Bodies.avro(feed(5, 4, 4)));
  }

  private static Feed feed(long from, long to, long head) {
    return new Feed(0L, from, to, head, ByteBuffer.allocate(0), 0);
  }

  private static void assertRefused(Feed feed, String message) {
    assertThatThrownBy(() -> Bodies.read(TypeCode.FEED, Bodies.avro(feed))).hasMessage(message);
  }

  @Test
  void positionsCountFromOne() {
    assertThatThrownBy(
            () ->
                Bodies.read(
                    TypeCode.SETTLE, Bodies.avro(DurableFrames.settleUpTo(0L, 0L, false, 0L))))
        .hasMessage("Settle.upTo: 0 at byte 1 (expected: at least 1)");
    assertThatThrownBy(
            () ->
                Bodies.read(
                    TypeCode.TRUNCATED,
                    Bodies.avro(new Truncated(0L, 9L, 8L, TruncatedReason.DAMAGED))))
        .hasMessage("Truncated.to: 8 at byte 2 (expected: at least 9)");
  }

  @Test
  void whatASettleSaysHasLimits() {
    String reason = "r".repeat(FrameLimits.MAX_REASON_BYTES);
    Settle most = settle(9L, SettleOutcome.RETRY, 1, Integer.MAX_VALUE, reason);
    assertThat(Bodies.read(TypeCode.SETTLE, Bodies.avro(most))).isEqualTo(most);
    assertRefused(
        settle(10L, SettleOutcome.DONE, 1, -1, ""),
        "Settle.from: 10 at byte 4 (expected: at most 9)");
    assertRefused(
        settle(-1L, SettleOutcome.DONE, 1, -1, ""),
        "Settle.from: -1 at byte 4 (expected: at least 0)");
    assertRefused(
        settle(9L, SettleOutcome.DONE, -1, -1, ""),
        "Settle.attempt: -1 at byte 6 (expected: at least 0)");
    assertRefused(
        settle(9L, SettleOutcome.RETRY, 1, -2, ""),
        "Settle.delayMillis: -2 at byte 7 (expected: at least -1)");
    assertRefused(
        settle(9L, SettleOutcome.RETRY, 1, -1, reason + "r"),
        "Settle.reason length: 257 at byte 8 (expected: at most 256)");
    assertThat(
            ((Settle) Bodies.read(TypeCode.SETTLE, new byte[] {0, 18, 0, 0, 2, 12, 2, 1, 0}))
                .getOutcome())
        .isEqualTo(SettleOutcome.UNKNOWN);
  }

  private static Settle settle(
      long from, SettleOutcome outcome, int attempt, int delay, String reason) {
    return new Settle(0L, 9L, false, 0L, from, outcome, attempt, delay, reason);
  }

  private static void assertRefused(Settle settle, String message) {
    assertThatThrownBy(() -> Bodies.read(TypeCode.SETTLE, Bodies.avro(settle))).hasMessage(message);
  }

  @Test
  void namesHaveALimit() {
    Consume most = consume("f".repeat(Topic.MAX_BYTES), LONGEST, LONGEST);
    assertThat(Bodies.read(TypeCode.CONSUME, Bodies.avro(most))).isEqualTo(most);
    assertTooBig(consume(most.getFilter() + "f", "", ""), "Consume.filter");
    assertTooBig(consume("", LONGEST + "x", ""), "Consume.journal");
    assertTooBig(consume("", "", LONGEST + "x"), "Consume.name");
    Ask ask = new Ask(1L, LONGEST, most.getFilter(), LONGEST, 0L);
    assertThat(Bodies.read(TypeCode.ASK, Bodies.avro(ask))).isEqualTo(ask);
  }

  private static Consume consume(String filter, String journal, String name) {
    return new Consume(
        1L,
        filter,
        journal,
        name,
        ConsumeMode.EXCLUSIVE,
        ConsumeStart.NEW,
        0L,
        0L,
        0L,
        ConsumeStart.UNKNOWN,
        0L,
        0,
        0,
        0);
  }

  private static void assertTooBig(Consume consume, String field) {
    assertThatThrownBy(() -> Bodies.read(TypeCode.CONSUME, Bodies.avro(consume)))
        .hasMessageStartingWith(field)
        .isInstanceOfSatisfying(
            MalformedFrameException.class, e -> assertThat(e.isTooBig()).isTrue());
  }

  @Test
  void theConfirmOfDurableEventsIsWrittenWithoutTheirFrame() {
    byte[] topic = "orders.new".getBytes(UTF_8);
    ByteBuffer out =
        ByteBuffer.allocate(Frames.confirmSize(topic.length, 7, -1, 1L << 40, 1L << 52));

    Frames.writeConfirm(
        out, ByteBuffer.wrap(topic), 0, topic.length, 7, -1, 1L << 40, true, 1L << 52);

    assertThat(out.hasRemaining()).isFalse();
    Confirm expected =
        new Confirm(TypeCode.PUBLISH.code(), 7L, "orders.new", -1L, 1L << 40, true, 1L << 52);
    assertThat(out.array()).isEqualTo(ControlFrames.encode(TypeCode.CONFIRM, expected));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 5})
  void aCopyForGroupsKeepsThePublisher(long origin) {
    Event event = new Event(1L, null, Map.of(), ByteBuffer.wrap(new byte[] {7}));
    Deliver stored =
        new Deliver("t", 3L, 9L, 0L, 2L, 41L, List.of(event), List.of(), origin, 6 * origin);
    ByteBuffer in = ByteBuffer.wrap(Bodies.avro(stored));
    DeliverView view = new DeliverView();
    view.read(in, 0, in.capacity(), FrameLimits.DEFAULT);
    long[] groups = {4, 0};
    ByteBuffer out = ByteBuffer.allocate(Frames.deliverSize(view, groups, 1));

    Frames.writeDeliver(out, in, view, groups, 1);

    assertThat(out.hasRemaining()).isFalse();
    stored.setGroups(List.of(4L));
    byte[] copy = Bodies.bodyOf(TypeCode.DELIVER, out.array());
    assertThat(Bodies.read(TypeCode.DELIVER, copy)).isEqualTo(stored);
    // What is not durable keeps its bytes of before.
    assertThat(copy[copy.length - 1]).isEqualTo((byte) (origin == 0 ? 0 : 12 * origin));
  }

  @ParameterizedTest
  @ValueSource(strings = {"expect", "delay", "ttl", "name"})
  void eachWishOfAPublishNeedsADurableTopic(String which) {
    long expect = which.equals("expect") ? 1 : 0;
    long delay = which.equals("delay") ? 1 : 0;
    long ttl = which.equals("ttl") ? 1 : 0;
    String name = which.equals("name") ? "outbox-ü" : null;
    byte[] utf8 = name == null ? null : name.getBytes(UTF_8);
    long number = name == null ? 0 : 42;
    byte[] event = {0, 0, 0, 0};
    int tail = Frames.publishTailSize(expect, delay, ttl, utf8, number);
    ByteBuffer out = ByteBuffer.allocate(Frames.publishSize(1, 1, 0, 1, event.length, tail));
    Frames.writePublishHead(out, new byte[] {'t'}, 1, 0, true, 1, event.length, tail);
    out.put(event).put((byte) 0);
    Frames.writePublishTail(out, expect, delay, ttl, utf8, number);
    assertThat(out.hasRemaining()).isFalse();

    PublishView view = new PublishView();
    FrameCursor cursor = new FrameCursor().wrap(out, 0, out.capacity());
    cursor.next();
    view.read(out, cursor.bodyStart(), cursor.bodyEnd(), FrameLimits.DEFAULT);
    assertThat(view.needsDurable()).isTrue();
    assertThat(view.expect()).isEqualTo(expect);
    assertThat(view.delayMillis()).isEqualTo(delay);
    assertThat(view.ttlMillis()).isEqualTo(ttl);
    assertThat(view.hasProducerName()).isEqualTo(name != null);
    assertThat(view.producerName()).isEqualTo(name);
    assertThat(view.number()).isEqualTo(number);
    // A view is used again: nothing of the last frame is left.
    byte[] plain = {2, 't', 2, 0, 0, 1, 8, 0, 0, 0, 0, 0};
    view.read(ByteBuffer.wrap(plain), 0, plain.length, FrameLimits.DEFAULT);
    assertThat(view.needsDurable()).isFalse();
    assertThat(view.producerName()).isNull();
    assertThat(view.number()).isZero();
  }

  private static Publish named(@Nullable String name, long number) {
    List<Event> events =
        Collections.nCopies(3, new Event(1L, null, Map.of(), ByteBuffer.allocate(0)));
    return new Publish("t", 5L, 0L, false, events, 0L, 0L, 0L, name, number);
  }

  @Test
  void aProducerNameAndItsNumberComeTogether() {
    long most = ProducerName.MAX_NUMBER - 3;
    for (Publish legal : List.of(named("p", 1), named("x".repeat(63), most), named(null, 0))) {
      assertThat(Bodies.read(TypeCode.PUBLISH, Bodies.avro(legal))).isEqualTo(legal);
    }
    assertNumber(named("p", 0), "0 at byte 25 (expected: 1.." + most + " with producerName)");
    assertNumber(named("p", -1), "-1 at byte 25 (expected: 1.." + most + " with producerName)");
    assertNumber(
        named("p", most + 1),
        (most + 1) + " at byte 25 (expected: 1.." + most + " with producerName)");
    assertNumber(named(null, 1), "1 at byte 23 (expected: 0 without producerName)");
    byte[] body = Bodies.avro(named("p", 64));
    byte[] cut = Arrays.copyOf(body, body.length - 2);
    assertThatThrownBy(() -> Bodies.read(TypeCode.PUBLISH, cut))
        .hasMessageStartingWith("Publish.number: 0 at byte 25 (expected: 1..");
  }

  private static void assertNumber(Publish publish, String message) {
    assertThatThrownBy(() -> Bodies.read(TypeCode.PUBLISH, Bodies.avro(publish)))
        .hasMessage("Publish.number: " + message)
        .isInstanceOfSatisfying(
            MalformedFrameException.class, e -> assertThat(e.isTooBig()).isFalse());
  }

  @Test
  void aProducerNameThatIsTooLongIsRefusedWithTheSequenceOfItsFrame() {
    byte[] body = Bodies.avro(named("x".repeat(64), 1));
    PublishView view = new PublishView();
    assertThatThrownBy(() -> view.read(ByteBuffer.wrap(body), 0, body.length, FrameLimits.DEFAULT))
        .hasMessage("Publish.producerName length: 64 at byte 23 (expected: at most 63)")
        .isInstanceOfSatisfying(
            MalformedFrameException.class, e -> assertThat(e.isTooBig()).isTrue());
    assertThat(view.sequence()).isEqualTo(5);
    assertThat(view.shownTopic()).isEqualTo("t");
  }

  @Test
  void producerNamesHaveTheRulesOfTopicsWithoutSlashes() {
    for (String legal : List.of("outbox", "orders.outbox-1", "€", "x".repeat(63))) {
      assertThat(ProducerName.problem(legal)).as(legal).isNull();
    }
    assertThat(ProducerName.problem(""))
        .isEqualTo("producer name: topic is empty (expected: tokens separated by dots)");
    assertThat(ProducerName.problem("a/b"))
        .isEqualTo("producer name: 'a/b' holds a slash (expected: none)");
    assertThat(ProducerName.problem("a b"))
        .startsWith("producer name: topic 'a b' holds the character");
    assertThat(ProducerName.problem("a\u0007")).contains("U+0007 at 1 (expected: no white space");
    assertThat(ProducerName.problem("é".repeat(32)))
        .endsWith(" has 64 bytes of UTF-8 (expected: at most 63)");
  }
}
