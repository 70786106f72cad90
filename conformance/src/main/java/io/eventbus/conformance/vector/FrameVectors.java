package io.eventbus.conformance.vector;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.conformance.frame.Blocks;
import io.eventbus.conformance.frame.Bytes;
import io.eventbus.conformance.frame.FrameTypes;
import io.eventbus.conformance.frame.KitFrame;
import io.eventbus.conformance.frame.RecordWriter;
import io.eventbus.protocol.FrameSchemas;
import io.eventbus.protocol.TypeCode;
import java.math.BigInteger;
import java.util.Base64;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Frames that a receiver must accept. */
final class FrameVectors {
  /** Integers at which the encoding gets a byte longer, on both sides of zero, and the extremes. */
  private static final List<Long> NUMBERS =
      List.of(
          1L,
          63L,
          64L,
          8191L,
          8192L,
          (1L << 20) - 1,
          1L << 20,
          (1L << 27) - 1,
          1L << 27,
          Integer.MAX_VALUE + 1L,
          1L << 34,
          1L << 41,
          1L << 48,
          (1L << 53) - 1,
          1L << 53,
          (1L << 53) + 1,
          1L << 55,
          1L << 62,
          Long.MAX_VALUE,
          -1L,
          -64L,
          -65L,
          -(1L << 53) - 1,
          Long.MIN_VALUE);

  private static final RecordWriter COUNTED = new RecordWriter(Blocks.COUNTED);

  private final ArrayNode out = VectorJson.array();
  private final ObjectNode examples = (ObjectNode) VectorJson.parse(Examples.ALL);

  private FrameVectors() {}

  static ArrayNode make() {
    FrameVectors vectors = new FrameVectors();
    vectors.examples();
    vectors.numbers();
    vectors.texts();
    vectors.unions();
    vectors.blocks();
    vectors.fewerFields();
    vectors.moreFields();
    vectors.symbols();
    vectors.unknownTypes();
    vectors.feeds();
    return vectors.out;
  }

  private ObjectNode example(String name) {
    return examples.get(name).deepCopy();
  }

  private void examples() {
    for (TypeCode type : TypeCode.values()) {
      ObjectNode record = example(FrameTypes.name(type));
      add("example-" + FrameTypes.name(type), type, RecordWriter.asBuses().frame(type, record));
    }
  }

  private void numbers() {
    for (long number : NUMBERS) {
      add("barrier-id-" + number, TypeCode.BARRIER, "Barrier", "id", number);
      ObjectNode welcome = example("Welcome").put("producer", Long.toString(number));
      add("welcome-producer-" + number, TypeCode.WELCOME, COUNTED.frame(TypeCode.WELCOME, welcome));
    }
    add("deliver-sequence-least", TypeCode.DELIVER, "Deliver", "sequence", 1);
    add("deliver-sequence-2-53", TypeCode.DELIVER, "Deliver", "sequence", (1L << 53) - 2);
    add("deliver-received-before-1970", TypeCode.DELIVER, "Deliver", "receivedAt", -1);
    add("deliver-schema-negative", TypeCode.DELIVER, "Deliver", "schema", -3588479540582100558L);
    add("publish-schema-negative", TypeCode.PUBLISH, "Publish", "schema", Long.MIN_VALUE);
    add("publish-sequence-2-53", TypeCode.PUBLISH, "Publish", "sequence", (1L << 53) - 2);
    add("invoke-call-least", TypeCode.INVOKE, "Invoke", "call", Long.MIN_VALUE);
    add("invoke-caller-2-53", TypeCode.INVOKE, "Invoke", "caller", (1L << 53) + 1);
    add("reply-member-2-53", TypeCode.REPLY, "Reply", "member", (1L << 53) + 1);
    add("reply-schema-negative", TypeCode.REPLY, "Reply", "schema", -3588479540582100558L);
    add("data-offset-2-53", TypeCode.DATA, "Data", "offset", (1L << 53) + 1);
    add("data-call-least", TypeCode.DATA, "Data", "call", Long.MIN_VALUE);
    add("credit-zero", TypeCode.CREDIT, "Credit", "limit", 0);
    add("credit-consumer", TypeCode.CREDIT, "Credit", "consumer", 4);
    add("confirm-position-2-53", TypeCode.CONFIRM, "Confirm", "position", (1L << 53) - 1);
    add("deliver-position-2-53", TypeCode.DELIVER, "Deliver", "offset", (1L << 53) - 1);
    add("deliver-origin-wide", TypeCode.DELIVER, "Deliver", "originProducer", (1L << 53) + 1);
    add("publish-expect-empty", TypeCode.PUBLISH, "Publish", "expect", 1);
    add("publish-expect-2-53", TypeCode.PUBLISH, "Publish", "expect", (1L << 53) - 1);
    add("publish-delay", TypeCode.PUBLISH, "Publish", "delayMillis", 60_000);
    add("publish-ttl", TypeCode.PUBLISH, "Publish", "ttlMillis", 86_400_000);
    ObjectNode named = example("Publish").put("producerName", "outbox-ü");
    named.put("number", (1L << 53) - 1);
    add(
        "publish-producer",
        TypeCode.PUBLISH,
        RecordWriter.asBuses().frame(TypeCode.PUBLISH, named));
    add("feed-head-2-53", TypeCode.FEED, "Feed", "head", (1L << 53) - 1);
    add("settle-2-53", TypeCode.SETTLE, "Settle", "upTo", (1L << 53) - 1);
    add("settle-delay-of-the-bus", TypeCode.SETTLE, "Settle", "delayMillis", -1);
    add("told-nothing-settled", TypeCode.TOLD, "Told", "settled", -1);
    add("consume-limit-0", TypeCode.CONSUME, "Consume", "limit", 0);
  }

  private void texts() {
    Map<String, String> texts =
        Map.of(
            "empty",
            "",
            "two-bytes",
            "äöü",
            "three-bytes",
            "航空",
            "four-bytes",
            "𝄞✈🛬",
            "nul",
            "a\u0000b",
            "long",
            "x".repeat(200));
    texts.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(
            text -> {
              ObjectNode problem = example("Problem").put("message", text.getValue());
              add(
                  "problem-message-" + text.getKey(),
                  TypeCode.PROBLEM,
                  COUNTED.frame(TypeCode.PROBLEM, problem));
              ObjectNode deliver = example("Deliver");
              ((ObjectNode) deliver.get("events").get(0)).put("key", text.getValue());
              ((ObjectNode) deliver.get("events").get(0).get("headers"))
                  .put(text.getValue(), text.getValue());
              add(
                  "deliver-key-" + text.getKey(),
                  TypeCode.DELIVER,
                  RecordWriter.asBuses().frame(TypeCode.DELIVER, deliver));
            });
  }

  private void unions() {
    ObjectNode hello = example("Hello").put("token", "secret").put("change", "move-7f3a");
    hello.put("resume", "q3fJ0yK8Zk1mWc7Hq2vXo5Tt9bLrNd4GsAeUiPwCxYE");
    hello.put("user", "alice").put("previous", "bus-1-41");
    hello.putObject("attributes").put("site", "FRA").put("role", "board");
    add("hello-all", TypeCode.HELLO, COUNTED.frame(TypeCode.HELLO, hello));
    ObjectNode subscribe = example("Subscribe").putNull("group").put("overflow", "BLOCK");
    add("subscribe-no-group", TypeCode.SUBSCRIBE, COUNTED.frame(TypeCode.SUBSCRIBE, subscribe));
    for (String policy : List.of("BLOCK", "DROP_OLDEST", "CONFLATE", "DISCONNECT")) {
      ObjectNode record = example("Subscribe").put("overflow", policy);
      add("subscribe-" + policy, TypeCode.SUBSCRIBE, COUNTED.frame(TypeCode.SUBSCRIBE, record));
    }
    ObjectNode welcome = example("Welcome");
    welcome.putArray("others").add("ws://a.example:8080/bus").add("wss://b.example/bus");
    add("welcome-others", TypeCode.WELCOME, COUNTED.frame(TypeCode.WELCOME, welcome));
    ObjectNode empty = example("Deliver");
    empty.putArray("groups");
    add(
        "deliver-no-groups",
        TypeCode.DELIVER,
        RecordWriter.asBuses().frame(TypeCode.DELIVER, empty));
  }

  private void blocks() {
    ObjectNode deliver = example("Deliver");
    deliver.withArray("groups").add("2").add("3000");
    ObjectNode headers = (ObjectNode) deliver.get("events").get(0).get("headers");
    headers.put("lang", "de").put("via", "EDDM");
    ObjectNode publish = example("Publish");
    ObjectNode hello = example("Hello");
    hello.putObject("attributes").put("site", "FRA").put("role", "board").put("row", "7");
    ObjectNode welcome = example("Welcome");
    welcome.putArray("others").add("ws://a.example:8080/bus").add("ws://b.example:8080/bus");
    ObjectNode change = example("ChangeBus");
    change.withArray("urls").add("wss://bus-2.example/bus");
    for (Blocks way : Blocks.values()) {
      RecordWriter writer = new RecordWriter(way);
      String suffix = "-blocks-" + way.name().toLowerCase(java.util.Locale.ROOT);
      add("deliver" + suffix, TypeCode.DELIVER, writer.frame(TypeCode.DELIVER, deliver));
      add("publish" + suffix, TypeCode.PUBLISH, writer.frame(TypeCode.PUBLISH, publish));
      add("hello" + suffix, TypeCode.HELLO, writer.frame(TypeCode.HELLO, hello));
      add("welcome" + suffix, TypeCode.WELCOME, writer.frame(TypeCode.WELCOME, welcome));
      add("change-bus" + suffix, TypeCode.CHANGE_BUS, writer.frame(TypeCode.CHANGE_BUS, change));
    }
  }

  /** Adds bodies that end before a field with a default. */
  private void fewerFields() {
    Map<TypeCode, Integer> others =
        Map.of(
            TypeCode.HELLO,
            2,
            TypeCode.SUBSCRIBE,
            2,
            TypeCode.DELIVER,
            7,
            TypeCode.WELCOME,
            5,
            TypeCode.PROBLEM,
            4,
            TypeCode.CONFIRM,
            2,
            TypeCode.CHANGE_BUS_FAILED,
            1,
            TypeCode.REGISTER,
            2,
            TypeCode.FAILURE,
            4,
            TypeCode.CANCEL,
            1);
    Map<TypeCode, Integer> least = new EnumMap<>(others);
    least.put(TypeCode.PUBLISH, 5);
    least.put(TypeCode.CREDIT, 3);
    least.put(TypeCode.CONSUME, 8);
    least.put(TypeCode.FEED, 5);
    least.put(TypeCode.SETTLE, 3);
    least.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(
            entry -> {
              TypeCode type = entry.getKey();
              int all = FrameSchemas.of(type).getFields().size();
              for (int fields = entry.getValue(); fields < all; fields++) {
                byte[] body =
                    RecordWriter.asBuses().body(type, example(FrameTypes.name(type)), fields);
                add(
                    "fewer-" + FrameTypes.name(type) + "-" + fields,
                    type,
                    Bytes.frame(type.code(), body));
              }
            });
  }

  private void moreFields() {
    for (TypeCode type : TypeCode.values()) {
      byte[] body =
          RecordWriter.asBuses().body(type, example(FrameTypes.name(type)), Integer.MAX_VALUE);
      byte[] longer = new Bytes().raw(body).number(7).text("a field of a later version").toArray();
      add("more-" + FrameTypes.name(type), type, Bytes.frame(type.code(), longer));
    }
  }

  private void symbols() {
    for (int symbol : List.of(23, 99, Integer.MAX_VALUE)) {
      add("unknown-error-code-" + symbol, TypeCode.PROBLEM, "Problem", "code", symbol);
      add("unknown-gap-reason-" + symbol, TypeCode.GAP, "Gap", "reason", symbol);
      add("unknown-change-reason-" + symbol, TypeCode.CHANGE_BUS, "ChangeBus", "reason", symbol);
    }
    for (int symbol : List.of(12, 99, Integer.MAX_VALUE)) {
      add("unknown-failure-code-" + symbol, TypeCode.FAILURE, "Failure", "code", symbol);
    }
    for (int symbol : List.of(3, Integer.MAX_VALUE)) {
      add("unknown-execution-" + symbol, TypeCode.FAILURE, "Failure", "executed", symbol);
    }
    for (int symbol = 0; symbol < 12; symbol++) {
      add("failure-code-" + symbol, TypeCode.FAILURE, "Failure", "code", symbol);
    }
    for (int symbol = 1; symbol < 5; symbol++) {
      add("truncated-reason-" + symbol, TypeCode.TRUNCATED, "Truncated", "reason", symbol);
    }
    for (int symbol : List.of(5, Integer.MAX_VALUE)) {
      add("unknown-truncated-reason-" + symbol, TypeCode.TRUNCATED, "Truncated", "reason", symbol);
    }
    for (int symbol = 1; symbol < 6; symbol++) {
      add("consume-start-" + symbol, TypeCode.CONSUME, "Consume", "start", symbol);
    }
    for (int symbol = 1; symbol < 3; symbol++) {
      add("consume-mode-" + symbol, TypeCode.CONSUME, "Consume", "mode", symbol);
    }
    for (int symbol = 1; symbol < 6; symbol++) {
      add("settle-outcome-" + symbol, TypeCode.SETTLE, "Settle", "outcome", symbol);
    }
    for (int symbol : List.of(6, Integer.MAX_VALUE)) {
      add("unknown-settle-outcome-" + symbol, TypeCode.SETTLE, "Settle", "outcome", symbol);
    }
    for (int symbol = 0; symbol < 23; symbol++) {
      add("error-code-" + symbol, TypeCode.PROBLEM, "Problem", "code", symbol);
    }
  }

  private void unknownTypes() {
    byte[] known = COUNTED.frame(TypeCode.DRAINED, example("Drained"));
    for (int code : List.of(14, 36, 63, 64, 1000, Integer.MAX_VALUE, -1, Integer.MIN_VALUE)) {
      byte[] unknown =
          Bytes.frame(code, "anything".getBytes(java.nio.charset.StandardCharsets.UTF_8));
      add(
          "unknown-type-" + code,
          TypeCode.DRAINED,
          new Bytes().raw(unknown).raw(known).raw(Bytes.frame(code, new byte[0])).toArray());
    }
    byte[] two =
        new Bytes()
            .raw(COUNTED.frame(TypeCode.CONFIRM, example("Confirm")))
            .raw(RecordWriter.asBuses().frame(TypeCode.DELIVER, example("Deliver")))
            .toArray();
    add("two-frames", TypeCode.DELIVER, two);
  }

  private void feeds() {
    ObjectNode feed = example("Feed").put("to", "41").put("head", "41").put("frames", "");
    add("feed-covers-nothing", TypeCode.FEED, COUNTED.frame(TypeCode.FEED, feed));
    feed.put("to", "60").put("head", "99");
    add("feed-without-events", TypeCode.FEED, COUNTED.frame(TypeCode.FEED, feed));
    byte[] deliver =
        RecordWriter.asBuses().frame(TypeCode.DELIVER, example("Deliver").put("offset", "44"));
    byte[] frames =
        new Bytes().raw(Bytes.frame(63, new byte[] {7})).raw(deliver).raw(deliver).toArray();
    feed.put("frames", Base64.getEncoder().encodeToString(frames));
    add("feed-with-an-unknown-type", TypeCode.FEED, COUNTED.frame(TypeCode.FEED, feed));
  }

  private void add(String id, TypeCode type, String name, String field, long value) {
    ObjectNode record = example(name).put(field, value);
    add(id, type, RecordWriter.asBuses().frame(type, record));
  }

  private void add(String id, TypeCode type, byte[] message) {
    ObjectNode vector = out.addObject();
    vector.put("id", id);
    vector.put(
        "from", FrameTypes.fromBus(type) ? FrameTypes.fromClient(type) ? "both" : "bus" : "client");
    if (id.startsWith("barrier-id-") && new BigInteger(id.substring(11)).abs().bitLength() > 53) {
      vector.put("wide", true);
    }
    if (FrameTypes.isAboutServices(type)) {
      vector.put("services", true);
    }
    if (FrameTypes.isAboutDurableTopics(type)) {
      vector.put("durable", true);
    }
    vector.put("hex", HexFormat.of().formatHex(message));
    ArrayNode frames = vector.putArray("frames");
    for (KitFrame frame : KitFrame.read(message)) {
      if (!frame.name().equals("Unknown")) {
        JsonNode record = frame.record();
        frames
            .addObject()
            .put("typeCode", frame.typeCode())
            .put("name", frame.name())
            .set("record", record);
      }
    }
  }
}
