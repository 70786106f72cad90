package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeReason;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Credit;
import io.eventbus.schema.Deliver;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Event;
import io.eventbus.schema.Feed;
import io.eventbus.schema.Gap;
import io.eventbus.schema.GapReason;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Limits;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Publish;
import io.eventbus.schema.Settle;
import io.eventbus.schema.SettleOutcome;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Truncated;
import io.eventbus.schema.TruncatedReason;
import io.eventbus.schema.Welcome;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.specific.SpecificRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ControlFramesTest {
  private static final Limits LIMITS = new Limits(1, 2, 3, 4, 5, 6L);

  @Test
  void aHelloMayEndBeforeEachFieldWithADefault() {
    Hello full = new Hello("c", "a", "t", "r", Map.of("k", "v"), "m", "u", "p");
    assertEnds(
        TypeCode.HELLO, full, 3, new Hello("c", "a", "t", "r", Map.of("k", "v"), "m", "u", null));
    assertEnds(
        TypeCode.HELLO, full, 6, new Hello("c", "a", "t", "r", Map.of("k", "v"), "m", null, null));
    assertEnds(
        TypeCode.HELLO, full, 9, new Hello("c", "a", "t", "r", Map.of("k", "v"), null, null, null));
    assertEnds(TypeCode.HELLO, full, 15, new Hello("c", "a", "t", "r", Map.of(), null, null, null));
    assertEnds(
        TypeCode.HELLO, full, 18, new Hello("c", "a", "t", null, Map.of(), null, null, null));
    assertEnds(
        TypeCode.HELLO, full, 21, new Hello("c", "a", null, null, Map.of(), null, null, null));
  }

  @Test
  void aSubscribeMayEndBeforeEachFieldWithADefault() {
    Subscribe full = new Subscribe(1L, "a.>", "g", Overflow.DISCONNECT);
    assertEnds(TypeCode.SUBSCRIBE, full, 1, new Subscribe(1L, "a.>", "g", Overflow.BLOCK));
    assertEnds(TypeCode.SUBSCRIBE, full, 4, new Subscribe(1L, "a.>", null, Overflow.BLOCK));
  }

  @Test
  void aWelcomeMayEndBeforeEachFieldWithADefault() {
    List<String> both = List.of("x", "y");
    Welcome full = new Welcome("b", "s", 1L, "r", LIMITS, both, 7L, 8, 9, 10, 11, true);
    assertEnds(
        TypeCode.WELCOME,
        full,
        1,
        new Welcome("b", "s", 1L, "r", LIMITS, both, 7L, 8, 9, 10, 11, false));
    assertEnds(
        TypeCode.WELCOME,
        full,
        2,
        new Welcome("b", "s", 1L, "r", LIMITS, both, 7L, 8, 9, 10, 0, false));
    assertEnds(
        TypeCode.WELCOME,
        full,
        3,
        new Welcome("b", "s", 1L, "r", LIMITS, both, 7L, 8, 9, 0, 0, false));
    assertEnds(
        TypeCode.WELCOME,
        full,
        4,
        new Welcome("b", "s", 1L, "r", LIMITS, both, 7L, 8, 0, 0, 0, false));
    assertEnds(
        TypeCode.WELCOME,
        full,
        5,
        new Welcome("b", "s", 1L, "r", LIMITS, both, 7L, 0, 0, 0, 0, false));
    assertEnds(
        TypeCode.WELCOME,
        full,
        6,
        new Welcome("b", "s", 1L, "r", LIMITS, both, 0L, 0, 0, 0, 0, false));
    assertEnds(
        TypeCode.WELCOME,
        full,
        12,
        new Welcome("b", "s", 1L, "r", LIMITS, List.of(), 0L, 0, 0, 0, 0, false));
  }

  @Test
  void aProblemMayEndBeforeEachFieldWithADefault() {
    Problem full = new Problem(ErrorCode.FORBIDDEN, "m", true, 7L, 1, "t");
    assertEnds(TypeCode.PROBLEM, full, 2, new Problem(ErrorCode.FORBIDDEN, "m", true, 7L, 1, ""));
    assertEnds(TypeCode.PROBLEM, full, 3, new Problem(ErrorCode.FORBIDDEN, "m", true, 7L, -1, ""));
  }

  @Test
  void aConfirmMayEndBeforeTheTopic() {
    Confirm confirm = new Confirm(1, 2L, "t", 7L, 9L, true, 3L);
    assertEnds(TypeCode.CONFIRM, confirm, 6, new Confirm(1, 2L, "", -1L, 0L, false, 0L));
    assertEnds(TypeCode.CONFIRM, confirm, 4, new Confirm(1, 2L, "t", -1L, 0L, false, 0L));
    assertEnds(TypeCode.CONFIRM, confirm, 3, new Confirm(1, 2L, "t", 7L, 0L, false, 0L));
    assertEnds(TypeCode.CONFIRM, confirm, 2, new Confirm(1, 2L, "t", 7L, 9L, false, 0L));
    assertEnds(TypeCode.CONFIRM, confirm, 1, new Confirm(1, 2L, "t", 7L, 9L, true, 0L));
  }

  @Test
  void aConsumeAndASettleMayEndBeforeTheCreation() {
    Consume whole = consume(5L, ConsumeStart.FIRST, 6L, 7, 8, 9);
    assertEnds(TypeCode.CONSUME, whole, 1, consume(5L, ConsumeStart.FIRST, 6L, 7, 8, 0));
    assertEnds(TypeCode.CONSUME, whole, 2, consume(5L, ConsumeStart.FIRST, 6L, 7, 0, 0));
    assertEnds(TypeCode.CONSUME, whole, 3, consume(5L, ConsumeStart.FIRST, 6L, 0, 0, 0));
    assertEnds(TypeCode.CONSUME, whole, 4, consume(5L, ConsumeStart.FIRST, 0L, 0, 0, 0));
    assertEnds(TypeCode.CONSUME, whole, 5, consume(5L, ConsumeStart.UNKNOWN, 0L, 0, 0, 0));
    assertEnds(TypeCode.CONSUME, whole, 6, consume(0L, ConsumeStart.UNKNOWN, 0L, 0, 0, 0));
    Settle settle = new Settle(1L, 9L, true, 3L, 4L, SettleOutcome.REJECT, 5, 6, "r");
    assertEnds(
        TypeCode.SETTLE,
        settle,
        2,
        new Settle(1L, 9L, true, 3L, 4L, SettleOutcome.REJECT, 5, 6, ""));
    assertEnds(
        TypeCode.SETTLE,
        settle,
        3,
        new Settle(1L, 9L, true, 3L, 4L, SettleOutcome.REJECT, 5, -1, ""));
    assertEnds(
        TypeCode.SETTLE,
        settle,
        4,
        new Settle(1L, 9L, true, 3L, 4L, SettleOutcome.REJECT, 0, -1, ""));
    assertEnds(
        TypeCode.SETTLE,
        settle,
        5,
        new Settle(1L, 9L, true, 3L, 4L, SettleOutcome.DONE, 0, -1, ""));
    assertEnds(TypeCode.SETTLE, settle, 6, DurableFrames.settleUpTo(1L, 9L, true, 3L));
    assertEnds(TypeCode.SETTLE, settle, 7, DurableFrames.settleUpTo(1L, 9L, true, 0L));
    ByteBuffer frames = ByteBuffer.wrap(new byte[] {7});
    assertEnds(
        TypeCode.FEED, new Feed(1L, 2L, 3L, 4L, frames, 5), 1, new Feed(1L, 2L, 3L, 4L, frames, 0));
  }

  private static Consume consume(
      long creation,
      ConsumeStart otherStart,
      long otherFrom,
      int maxEvents,
      int ackTimeout,
      int attempts) {
    return new Consume(
        1L,
        "f",
        "j",
        "n",
        ConsumeMode.EXCLUSIVE,
        ConsumeStart.POSITION,
        3L,
        4L,
        creation,
        otherStart,
        otherFrom,
        maxEvents,
        ackTimeout,
        attempts);
  }

  @Test
  void aDeliverMayEndBeforeTheGroups() {
    byte[] body = {2, 't', 2, 2, 0, 0, 1, 0};
    assertThat(Bodies.read(TypeCode.DELIVER, body))
        .isEqualTo(new Deliver("t", 1L, 1L, 0L, 0L, -1L, List.of(), List.of(), 0L, 0L));
    Deliver whole = new Deliver("t", 1L, 1L, 0L, 0L, 7L, List.of(), List.of(), 8L, 9L);
    assertEnds(
        TypeCode.DELIVER,
        whole,
        1,
        new Deliver("t", 1L, 1L, 0L, 0L, 7L, List.of(), List.of(), 8L, 0L));
    assertEnds(
        TypeCode.DELIVER,
        whole,
        2,
        new Deliver("t", 1L, 1L, 0L, 0L, 7L, List.of(), List.of(), 0L, 0L));
  }

  @Test
  void aPublishMayEndBehindItsEvents() {
    List<Event> events = List.of(new Event(0L, null, Map.of(), ByteBuffer.allocate(0)));
    Publish whole = new Publish("t", 1L, 0L, false, events, 1L, 2L, 3L, null, 0L);
    assertEnds(TypeCode.PUBLISH, whole, 1, whole);
    assertEnds(TypeCode.PUBLISH, whole, 2, whole);
    assertEnds(TypeCode.PUBLISH, whole, 3, publish(events, 1L, 2L));
    assertEnds(TypeCode.PUBLISH, whole, 4, publish(events, 1L, 0L));
    assertEnds(TypeCode.PUBLISH, whole, 5, publish(events, 0L, 0L));
  }

  private static Publish publish(List<Event> events, long expect, long delay) {
    return new Publish("t", 1L, 0L, false, events, expect, delay, 0L, null, 0L);
  }

  private static void assertEnds(
      TypeCode type, SpecificRecord full, int without, SpecificRecord expected) {
    byte[] body = Bodies.avro(full);
    assertThat(Bodies.read(type, body)).isEqualTo(full);
    assertThat(Bodies.read(type, Arrays.copyOf(body, body.length - without))).isEqualTo(expected);
  }

  @Test
  void unknownSymbolsFromALaterBusBecomeTheDefault() {
    assertThat(Bodies.read(TypeCode.PROBLEM, new byte[] {126, 0, 0, 0}))
        .isEqualTo(new Problem(ErrorCode.INTERNAL, "", false, 0L, -1, ""));
    assertThat(Bodies.read(TypeCode.GAP, new byte[] {0, 0, 0, 0, 126}))
        .isEqualTo(new Gap("", 0L, 0L, 0L, GapReason.UNKNOWN));
    assertThat(Bodies.read(TypeCode.CHANGE_BUS, new byte[] {0, 126, 0, 0, 0}))
        .isEqualTo(new ChangeBus(List.of(), ChangeReason.OVERLOAD, 0L, "", 0));
    assertThat(Bodies.read(TypeCode.CONSUME, new byte[] {0, 0, 0, 0, 126, 126, 0, 0}))
        .isEqualTo(
            new Consume(
                0L,
                "",
                "",
                "",
                ConsumeMode.UNKNOWN,
                ConsumeStart.UNKNOWN,
                0L,
                0L,
                0L,
                ConsumeStart.UNKNOWN,
                0L,
                0,
                0,
                0));
    assertThat(Bodies.read(TypeCode.TRUNCATED, new byte[] {0, 2, 2, 126}))
        .isEqualTo(new Truncated(0L, 1L, 1L, TruncatedReason.UNKNOWN));
  }

  @Test
  void anUnknownOverflowPolicyIsRefused() {
    // Another policy than the one that was asked for could lose events unnoticed.
    assertThatThrownBy(() -> Bodies.read(TypeCode.SUBSCRIBE, new byte[] {2, 2, 'a', 0, 8}))
        .isInstanceOf(MalformedFrameException.class)
        .hasMessageStartingWith("Subscribe.overflow: symbol 4 ");
  }

  @Test
  void enumSymbolsHaveFixedNumbers() {
    assertThat(Overflow.values())
        .extracting(Enum::name)
        .containsExactly("BLOCK", "DROP_OLDEST", "CONFLATE", "DISCONNECT");
    assertThat(ChangeReason.values())
        .extracting(Enum::name)
        .containsExactly("OVERLOAD", "DRAIN", "OPERATOR");
    assertThat(GapReason.values())
        .extracting(Enum::name)
        .startsWith("UNKNOWN", "QUEUE_FULL", "CONFLATED");
    assertThat(ErrorCode.values())
        .extracting(Enum::name)
        .startsWith(
            "INTERNAL",
            "UNKNOWN_TYPE",
            "MALFORMED",
            "TOO_BIG",
            "ILLEGAL_TOPIC",
            "ILLEGAL_FILTER",
            "PROTOCOL_VIOLATION",
            "UNAUTHENTICATED",
            "FORBIDDEN",
            "UNSUPPORTED",
            "LIMIT_EXCEEDED",
            "DUPLICATE_SUBSCRIPTION",
            "UNKNOWN_SUBSCRIPTION",
            "SLOW_CONSUMER",
            "OVERLOADED",
            "SHUTTING_DOWN",
            "IDLE",
            "REPLACED",
            "SEQUENCE_GAP",
            "EXPECTATION_FAILED",
            "STORE_FULL",
            "UNAVAILABLE",
            "NO_JOURNAL");
    assertThat(ConsumeMode.values())
        .extracting(Enum::name)
        .startsWith("UNKNOWN", "EXCLUSIVE", "SHARED", "KEY_SHARED");
    assertThat(SettleOutcome.values())
        .extracting(Enum::name)
        .startsWith("UNKNOWN", "DONE", "RETRY", "REJECT", "RELEASE", "EXTEND");
    assertThat(ConsumeStart.values())
        .extracting(Enum::name)
        .startsWith("UNKNOWN", "FIRST", "NEW", "LATEST_VALUES", "POSITION", "TIME");
    assertThat(TruncatedReason.values())
        .extracting(Enum::name)
        .startsWith("UNKNOWN", "RETENTION", "PURGED", "EXPIRED", "DAMAGED");
  }

  @Test
  void limitsOfHello() {
    String longest = "x".repeat(FrameLimits.MAX_NAME_BYTES);
    String token = "x".repeat(FrameLimits.MAX_TOKEN_BYTES);
    Hello fits =
        new Hello(longest, longest, token, token, Map.of(longest, longest), token, longest, null);
    assertThat(Bodies.read(TypeCode.HELLO, Bodies.avro(fits))).isEqualTo(fits);

    assertTooBig(
        TypeCode.HELLO,
        new Hello(longest + "x", "", null, null, Map.of(), null, null, null),
        "Hello.client");
    assertTooBig(
        TypeCode.HELLO,
        new Hello("", longest + "x", null, null, Map.of(), null, null, null),
        "Hello.agent");
    assertTooBig(
        TypeCode.HELLO,
        new Hello("", "", token + "x", null, Map.of(), null, null, null),
        "Hello.token");
    assertTooBig(
        TypeCode.HELLO,
        new Hello("", "", null, token + "x", Map.of(), null, null, null),
        "Hello.resume");
    assertTooBig(
        TypeCode.HELLO,
        new Hello("", "", null, null, attributes(65), null, null, null),
        "Hello.attributes count");
    assertTooBig(
        TypeCode.HELLO,
        new Hello("", "", null, null, Map.of(), token + "x", null, null),
        "Hello.change");
    assertTooBig(
        TypeCode.HELLO,
        new Hello("", "", null, null, Map.of(), null, longest + "x", null),
        "Hello.user");
    assertTooBig(
        TypeCode.HELLO,
        new Hello("", "", null, null, Map.of(), null, null, longest + "x"),
        "Hello.previous");
  }

  @Test
  void theAttributesHaveALimitInBytesOfUtf8Together() {
    Map<String, String> attributes = new LinkedHashMap<>();
    for (int i = 0; i < 4; i++) {
      attributes.put(i + "é", "x".repeat(253));
    }
    Hello most = new Hello("", "", null, null, attributes, null, null, null);
    assertThat(Bodies.read(TypeCode.HELLO, Bodies.avro(most))).isEqualTo(most);
    attributes.put("3é", "x".repeat(254));
    assertTooBig(
        TypeCode.HELLO,
        new Hello("", "", null, null, attributes, null, null, null),
        "Hello.attributes bytes");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void theLimitOfAttributesIsOfAllBlocksTogether(long seed) {
    Hello most = new Hello("", "", null, null, attributes(64), null, null, null);
    assertThat(Bodies.read(TypeCode.HELLO, AnyBlocksEncoder.encode(most, seed))).isEqualTo(most);
    Hello tooMany = new Hello("", "", null, null, attributes(65), null, null, null);
    byte[] body = AnyBlocksEncoder.encode(tooMany, seed);
    assertThatThrownBy(() -> Bodies.read(TypeCode.HELLO, body))
        .isInstanceOfSatisfying(
            MalformedFrameException.class, e -> assertThat(e.isTooBig()).isTrue());
  }

  private static Map<String, String> attributes(int count) {
    Map<String, String> attributes = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      attributes.put("n" + i, "v" + i);
    }
    return attributes;
  }

  @Test
  void creditCountsFromZero() {
    Credit least = new Credit(-1L, 0L, 0L, 0L);
    assertThat(Bodies.read(TypeCode.CREDIT, Bodies.avro(least))).isEqualTo(least);
    Credit most = new Credit(0L, Long.MAX_VALUE, Long.MAX_VALUE, 0L);
    assertThat(Bodies.read(TypeCode.CREDIT, Bodies.avro(most))).isEqualTo(most);
    assertThatThrownBy(() -> Bodies.read(TypeCode.CREDIT, Bodies.avro(new Credit(0L, -1L, 0L, 0L))))
        .hasMessage("Credit.limit: -1 at byte 1 (expected: at least 0)");
    assertThatThrownBy(
            () -> Bodies.read(TypeCode.CREDIT, Bodies.avro(new Credit(0L, 0L, Long.MIN_VALUE, 0L))))
        .hasMessage("Credit.received: " + Long.MIN_VALUE + " at byte 2 (expected: at least 0)");
  }

  @Test
  void limitsOfSubscribe() {
    String topic = "x".repeat(Topic.MAX_BYTES);
    String group = "x".repeat(FrameLimits.MAX_NAME_BYTES);
    Subscribe fits = new Subscribe(1L, topic, group, Overflow.BLOCK);
    assertThat(Bodies.read(TypeCode.SUBSCRIBE, Bodies.avro(fits))).isEqualTo(fits);
    assertTooBig(
        TypeCode.SUBSCRIBE,
        new Subscribe(1L, topic + "x", null, Overflow.BLOCK),
        "Subscribe.filter");
    assertTooBig(
        TypeCode.SUBSCRIBE, new Subscribe(1L, "a", group + "x", Overflow.BLOCK), "Subscribe.group");
  }

  private static void assertTooBig(TypeCode type, SpecificRecord record, String field) {
    byte[] body = Bodies.avro(record);
    assertThatThrownBy(() -> Bodies.read(type, body))
        .isInstanceOfSatisfying(
            MalformedFrameException.class,
            e -> {
              assertThat(e.isTooBig()).isTrue();
              assertThat(e).hasMessageStartingWith(field);
            });
  }
}
