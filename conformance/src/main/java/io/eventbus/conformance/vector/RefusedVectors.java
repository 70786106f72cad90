package io.eventbus.conformance.vector;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.conformance.frame.Bytes;
import io.eventbus.conformance.frame.FrameTypes;
import io.eventbus.conformance.frame.KitFrame;
import io.eventbus.conformance.frame.RecordWriter;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.TypeCode;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Bytes that a receiver must refuse, each with the reason of the Java parsers. */
final class RefusedVectors {
  /**
   * Vectors that Avro libraries accept: a test reads all others with one, and expects a refusal.
   */
  private static final Set<String> STRICT =
      Set.of(
          "long-of-11-bytes",
          "utf8-lone-continuation",
          "utf8-overlong",
          "utf8-surrogate",
          "utf8-cut",
          "utf8-above-10ffff",
          "boolean-2",
          "boolean-255",
          "data-more-2",
          "error-code-negative",
          "failure-code-negative",
          "confirm-type-of-6-bytes",
          "reply-time-negative",
          "data-offset-negative",
          "confirm-position-negative",
          "feed-from-0",
          "feed-to-small",
          "feed-head-small",
          "feed-attempt-negative",
          "truncated-to-small",
          "truncated-reason-negative",
          "events-least-long",
          "block-size-small",
          "block-size-great",
          "block-size-negative",
          "block-size-past-body");

  private final ArrayNode out = VectorJson.array();
  private final ObjectNode examples = (ObjectNode) VectorJson.parse(Examples.ALL);

  private RefusedVectors() {}

  static ArrayNode make() {
    RefusedVectors vectors = new RefusedVectors();
    vectors.frames();
    vectors.cutBodies();
    vectors.values();
    vectors.blocks();
    return vectors.out;
  }

  private void frames() {
    byte[] drained = frame(TypeCode.DRAINED);
    add("frame-cut-in-body", "bus", Arrays.copyOf(drained, drained.length - 1));
    add("frame-without-length", "bus", new Bytes().number(12).toArray());
    add("frame-length-negative", "bus", new Bytes().number(12).number(-1).toArray());
    add(
        "frame-length-past-message",
        "bus",
        new Bytes().number(12).number(1000).number(1).toArray());
    add("frame-length-2-31", "bus", new Bytes().number(12).number(1L << 31).number(1).toArray());
    add("frame-length-2-62", "bus", new Bytes().number(12).number(1L << 62).number(1).toArray());
    add(
        "type-code-of-6-bytes",
        "bus",
        new Bytes().raw(0x98, 0x80, 0x80, 0x80, 0x80, 0x00).sized(new byte[] {2}).toArray());
    add("second-frame-broken", "bus", new Bytes().raw(drained).number(12).number(5).toArray());
  }

  /**
   * Adds every body, cut by a byte where its last field has no default or takes more than one byte.
   */
  private void cutBodies() {
    for (TypeCode type : TypeCode.values()) {
      byte[] body = RecordWriter.asBuses().body(type, example(type), Integer.MAX_VALUE);
      for (int left : new TreeSet<>(List.of(0, 1, body.length / 2))) {
        byte[] frame = Bytes.frame(type.code(), Arrays.copyOf(body, left));
        if (isRefused(frame)) {
          add("cut-" + FrameTypes.name(type) + "-" + left, type, frame);
        }
      }
    }
  }

  private void values() {
    body("long-of-11-bytes", TypeCode.DRAINED, elevenBytes());
    body("string-length-negative", TypeCode.GAP, new Bytes().number(-2).raw(0x61, 0x62));
    body("string-past-body", TypeCode.GAP, new Bytes().number(100).raw(0x61, 0x62));
    body("string-length-2-62", TypeCode.GAP, new Bytes().number(1L << 62).raw(0x61));
    body("utf8-lone-continuation", TypeCode.PROBLEM, problem(new byte[] {'a', (byte) 0x80}));
    body("utf8-overlong", TypeCode.PROBLEM, problem(new byte[] {(byte) 0xC0, (byte) 0xAF}));
    body(
        "utf8-surrogate",
        TypeCode.PROBLEM,
        problem(new byte[] {(byte) 0xED, (byte) 0xA0, (byte) 0x80}));
    body("utf8-cut", TypeCode.PROBLEM, problem(new byte[] {(byte) 0xE8, (byte) 0x88}));
    body(
        "utf8-above-10ffff",
        TypeCode.PROBLEM,
        problem(new byte[] {(byte) 0xF4, (byte) 0x90, (byte) 0x80, (byte) 0x80}));
    body("boolean-2", TypeCode.PROBLEM, new Bytes().number(0).text("x").raw(2).number(0));
    body("boolean-255", TypeCode.PROBLEM, new Bytes().number(0).text("x").raw(0xFF).number(0));
    body(
        "error-code-negative", TypeCode.PROBLEM, new Bytes().number(-1).text("x").raw(0).number(0));
    body(
        "confirm-type-of-6-bytes",
        TypeCode.CONFIRM,
        new Bytes().raw(0x82, 0x80, 0x80, 0x80, 0x80, 0x00).number(1));
    body("key-branch-2", TypeCode.DELIVER, deliver(new Bytes().number(0).number(2).text("k")));
    body("key-branch-negative", TypeCode.DELIVER, deliver(new Bytes().number(0).number(-1)));
    body(
        "payload-past-body",
        TypeCode.DELIVER,
        deliver(new Bytes().number(0).number(0).number(0).number(500)));
    body("overflow-4", TypeCode.SUBSCRIBE, new Bytes().number(1).text("a").number(0).number(4));
    body("group-branch-2", TypeCode.SUBSCRIBE, new Bytes().number(1).text("a").number(2));
    body("token-branch-2", TypeCode.HELLO, new Bytes().text("c").text("a").number(2));
    body("concurrency-negative", TypeCode.CAPACITY, new Bytes().number(3).number(-1));
    body(
        "failure-code-negative",
        TypeCode.FAILURE,
        new Bytes().number(1).number(-1).text("x").number(0));
    body(
        "reply-time-negative",
        TypeCode.REPLY,
        new Bytes().number(1).number(0).number(-1).number(0).number(0).raw(event()));
    body("reply-without-event", TypeCode.REPLY, new Bytes().raw(0x02, 0, 0, 0, 0));
    body("data-offset-negative", TypeCode.DATA, new Bytes().number(5).number(-1).raw(0, 0, 0));
    body("data-more-2", TypeCode.DATA, new Bytes().number(5).number(0).raw(2, 0, 0));
    body("data-without-payload", TypeCode.DATA, new Bytes().number(5).number(0).raw(0, 0));
    body("credit-limit-negative", TypeCode.CREDIT, new Bytes().number(0).number(-1).number(0));
    body("publish-sequence-0", TypeCode.PUBLISH, publish(0, new Bytes().number(1).raw(event())));
    body(
        "publish-sequence-past-end",
        TypeCode.PUBLISH,
        publish(Long.MAX_VALUE, new Bytes().number(1).raw(event())));
    body("publish-no-event", TypeCode.PUBLISH, publish(1, new Bytes()));
    body(
        "publish-expect-negative",
        TypeCode.PUBLISH,
        publish(1, new Bytes().number(1).raw(event())).number(-1));
    body("publish-name-without-number", TypeCode.PUBLISH, named().number(1).text("p").number(0));
    body("publish-number-without-name", TypeCode.PUBLISH, named().number(0).number(1));
    body(
        "confirm-position-negative",
        TypeCode.CONFIRM,
        new Bytes().number(1).number(1).text("a").number(-1).number(-1));
    body("feed-from-0", TypeCode.FEED, feed(0, 0, 0));
    body("feed-to-small", TypeCode.FEED, feed(5, 3, 9));
    body("feed-head-small", TypeCode.FEED, feed(5, 7, 6));
    body(
        "feed-frames-past-body",
        TypeCode.FEED,
        new Bytes().number(4).number(5).number(7).number(9).number(50).raw(1));
    body(
        "feed-attempt-negative",
        TypeCode.FEED,
        new Bytes().number(4).number(5).number(7).number(9).number(0).number(-1));
    body("settle-0", TypeCode.SETTLE, new Bytes().number(4).number(0).raw(0));
    body("settle-from-past-end", TypeCode.SETTLE, settle(10, 1, 1, -1));
    body("settle-from-negative", TypeCode.SETTLE, settle(-1, 1, 1, -1));
    body("settle-outcome-negative", TypeCode.SETTLE, settle(9, -1, 1, -1));
    body("settle-attempt-negative", TypeCode.SETTLE, settle(9, 1, -1, -1));
    body("settle-delay-negative", TypeCode.SETTLE, settle(9, 2, 1, -2));
    body("consume-events-negative", TypeCode.CONSUME, more(-1, 0, 0));
    body("consume-ack-timeout-negative", TypeCode.CONSUME, more(0, -1, 0));
    body("consume-attempts-negative", TypeCode.CONSUME, more(0, 0, -1));
    body("consume-limit-negative", TypeCode.CONSUME, consume(1, -1));
    body("consume-start-negative", TypeCode.CONSUME, consume(-1, 0));
    body(
        "truncated-to-small",
        TypeCode.TRUNCATED,
        new Bytes().number(4).number(9).number(8).number(1));
    body(
        "truncated-reason-negative",
        TypeCode.TRUNCATED,
        new Bytes().number(4).number(1).number(8).number(-1));
  }

  private void blocks() {
    byte[] event = event();
    body("events-too-many", TypeCode.DELIVER, events(new Bytes().number(1000).raw(event)));
    body("events-2-62", TypeCode.DELIVER, events(new Bytes().number(1L << 62).raw(event)));
    body(
        "events-least-long",
        TypeCode.DELIVER,
        events(new Bytes().number(Long.MIN_VALUE).number(1)));
    body(
        "block-size-small",
        TypeCode.DELIVER,
        events(new Bytes().number(-1).number(event.length - 1).raw(event)));
    body(
        "block-size-great",
        TypeCode.DELIVER,
        events(new Bytes().number(-1).number(event.length + 1).raw(event)));
    body(
        "block-size-negative",
        TypeCode.DELIVER,
        events(new Bytes().number(-1).number(-5).raw(event)));
    body(
        "block-size-past-body",
        TypeCode.DELIVER,
        events(new Bytes().number(-1).number(100_000).raw(event)));
    body("events-without-end", TypeCode.DELIVER, new Bytes().raw(head()).number(1).raw(event));
    body(
        "headers-too-many",
        TypeCode.DELIVER,
        deliver(new Bytes().number(0).number(0).number(100).text("a").text("b")));
    body(
        "groups-past-body",
        TypeCode.DELIVER,
        new Bytes().raw(head()).number(1).raw(event).number(0).number(50).number(1));
  }

  private static byte[] event() {
    return new Bytes().number(0).number(0).number(0).sized(new byte[] {'x'}).toArray();
  }

  private static byte[] head() {
    return new Bytes().text("a").number(7).number(1).number(0).number(0).number(-1).toArray();
  }

  private static Bytes events(Bytes blocks) {
    return new Bytes().raw(head()).raw(blocks.toArray()).number(0).number(0);
  }

  private static Bytes deliver(Bytes event) {
    return events(new Bytes().number(1).raw(event.toArray()));
  }

  private static Bytes publish(long sequence, Bytes blocks) {
    return new Bytes().text("a").number(sequence).number(0).raw(0).raw(blocks.toArray()).number(0);
  }

  private static Bytes named() {
    return publish(1, new Bytes().number(1).raw(event())).raw(0, 0, 0);
  }

  private static Bytes feed(long from, long to, long head) {
    return new Bytes().number(4).number(from).number(to).number(head).number(0);
  }

  private static Bytes settle(long from, long outcome, long attempt, long delay) {
    return new Bytes()
        .number(4)
        .number(9)
        .raw(0)
        .number(0)
        .number(from)
        .number(outcome)
        .number(attempt)
        .number(delay);
  }

  private static Bytes more(long events, long ackTimeout, long attempts) {
    return consume(1, 0).raw(0, 0, 0).number(events).number(ackTimeout).number(attempts);
  }

  private static Bytes consume(long start, long limit) {
    return new Bytes()
        .number(4)
        .text("a")
        .text("")
        .text("n")
        .number(1)
        .number(start)
        .number(0)
        .number(limit);
  }

  private static Bytes problem(byte[] message) {
    return new Bytes().number(0).sized(message).raw(0).number(0);
  }

  private static Bytes elevenBytes() {
    Bytes bytes = new Bytes();
    for (int i = 0; i < 10; i++) {
      bytes.raw(0x80);
    }
    return bytes.raw(0x01);
  }

  private ObjectNode example(TypeCode type) {
    return (ObjectNode) examples.get(FrameTypes.name(type));
  }

  private byte[] frame(TypeCode type) {
    return RecordWriter.asBuses().frame(type, example(type));
  }

  private static String from(TypeCode type) {
    return FrameTypes.fromBus(type) ? FrameTypes.fromClient(type) ? "both" : "bus" : "client";
  }

  private static boolean isRefused(byte[] message) {
    try {
      KitFrame.read(message);
      return false;
    } catch (MalformedFrameException e) {
      return true;
    }
  }

  private void body(String id, TypeCode type, Bytes body) {
    add(id, type, Bytes.frame(type.code(), body.toArray()));
  }

  private void add(String id, TypeCode type, byte[] message) {
    add(id, from(type), message);
    ObjectNode vector = (ObjectNode) out.get(out.size() - 1);
    if (FrameTypes.isAboutServices(type)) {
      vector.put("services", true);
    }
    if (FrameTypes.isAboutDurableTopics(type)) {
      vector.put("durable", true);
    }
    if (STRICT.contains(id)) {
      vector.put("strict", true);
    }
  }

  private void add(String id, String from, byte[] message) {
    try {
      KitFrame.read(message);
    } catch (MalformedFrameException e) {
      out.addObject()
          .put("id", id)
          .put("from", from)
          .put("hex", HexFormat.of().formatHex(message))
          .put("reason", e.getMessage());
      return;
    }
    throw new IllegalStateException(id + " is taken (expected: refused)");
  }
}
