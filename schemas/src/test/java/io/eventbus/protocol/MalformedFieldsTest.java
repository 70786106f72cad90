package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Breaks of every field of every record, one at a time: each is refused, by the name of the field.
 */
class MalformedFieldsTest {
  /** Kind of a part of a body, which decides how it can be broken. */
  private enum Kind {
    LONG,
    INT,
    BOOLEAN,
    STRING,
    BYTES,
    UNION,
    ENUM,
    BLOCK,
    END
  }

  /** Part of a body; if it is optional, the body may end before it. */
  private record Part(String field, Kind kind, String hex, boolean optional) {}

  /** Break of a part; a last one is not followed by the rest of the body. */
  private record Break(String name, String hex, boolean last) {}

  private static final Map<String, List<Part>> RECORDS = records();

  private static Map<String, List<Part>> records() {
    Map<String, List<Part>> records = new LinkedHashMap<>();
    records.put(
        "HELLO",
        parts(
            "Hello.client STRING 0261",
            "Hello.agent STRING 0262",
            "Hello.token UNION 02 ?",
            "Hello.token STRING 0474c3",
            "Hello.resume UNION 02 ?",
            "Hello.resume STRING 0272",
            "Hello.attributes BLOCK 02 ?",
            "Hello.attributes STRING 026e",
            "Hello.attributes STRING 0276",
            "Hello.attributes END 00",
            "Hello.change UNION 02 ?",
            "Hello.change STRING 0263"));
    records.put(
        "PUBLISH",
        parts(
            "Publish.topic STRING 0274",
            "Publish.sequence LONG 8401",
            "Publish.schema LONG 8401",
            "Publish.confirm BOOLEAN 01",
            "events BLOCK 02",
            "Event.publishedAt LONG 8401",
            "Event.key UNION 02",
            "Event.key STRING 026b",
            "Event.headers BLOCK 02",
            "Event.headers STRING 026e",
            "Event.headers STRING 0276",
            "Event.headers END 00",
            "Event.payload BYTES 04ffff",
            "events END 00",
            "Publish.expect LONG 8401 ?",
            "Publish.delayMillis LONG 8401 ?",
            "Publish.ttlMillis LONG 8401 ?",
            "Publish.producerName UNION 02 ?",
            "Publish.producerName STRING 026e",
            "Publish.number LONG 8401"));
    records.put(
        "SUBSCRIBE",
        parts(
            "Subscribe.id LONG 8401",
            "Subscribe.filter STRING 0261",
            "Subscribe.group UNION 02 ?",
            "Subscribe.group STRING 0267",
            "Subscribe.overflow ENUM 06 ?"));
    records.put(
        "CHANGE_BUS",
        parts(
            "ChangeBus.urls BLOCK 02",
            "ChangeBus.urls STRING 0275",
            "ChangeBus.urls END 00",
            "ChangeBus.reason ENUM 02",
            "ChangeBus.deadlineMillis LONG 8401",
            "ChangeBus.token STRING 0274",
            "ChangeBus.hops INT 02"));
    records.put(
        "DELIVER",
        parts(
            "Deliver.topic STRING 0274",
            "Deliver.producer LONG 8401",
            "Deliver.sequence LONG 8401",
            "Deliver.schema LONG 8401",
            "Deliver.receivedAt LONG 8401",
            "Deliver.offset LONG 8401",
            "events BLOCK 02",
            "Event.publishedAt LONG 8401",
            "Event.key UNION 02",
            "Event.key STRING 026b",
            "Event.headers BLOCK 02",
            "Event.headers STRING 026e",
            "Event.headers STRING 0276",
            "Event.headers END 00",
            "Event.payload BYTES 04ffff",
            "events END 00",
            "Deliver.groups BLOCK 02 ?",
            "Deliver.groups LONG 8401",
            "Deliver.groups END 00",
            "Deliver.originProducer LONG 8401 ?",
            "Deliver.originSequence LONG 8401 ?"));
    records.put(
        "ACK", parts("Ack.topic STRING 0274", "Ack.producer LONG 8401", "Ack.sequence LONG 8401"));
    records.put("UNSUBSCRIBE", parts("Unsubscribe.id LONG 8401"));
    records.put(
        "WELCOME",
        parts(
            "Welcome.bus STRING 0262",
            "Welcome.session STRING 0273",
            "Welcome.producer LONG 8401",
            "Welcome.resume STRING 0272",
            "Limits.payloadBytes INT 8401",
            "Limits.messageBytes INT 8401",
            "Limits.headers INT 8401",
            "Limits.headerBytes INT 8401",
            "Limits.subscriptions INT 8401",
            "Limits.queueBytes LONG 8401",
            "Welcome.others BLOCK 02 ?",
            "Welcome.others STRING 026f",
            "Welcome.others END 00",
            "Welcome.expiresAt LONG 8401 ?",
            "Welcome.calls INT 8401 ?",
            "Welcome.services INT 8401 ?",
            "Welcome.tunnels INT 8401 ?",
            "Welcome.window INT 8401 ?",
            "Welcome.durable BOOLEAN 01 ?"));
    records.put(
        "PROBLEM",
        parts(
            "Problem.code ENUM 02",
            "Problem.message STRING 026d",
            "Problem.retryable BOOLEAN 01",
            "Problem.about LONG 8401",
            "Problem.typeCode INT 8401 ?",
            "Problem.topic STRING 0274 ?"));
    records.put(
        "CONFIRM",
        parts(
            "Confirm.typeCode INT 02",
            "Confirm.about LONG 8401",
            "Confirm.topic STRING 0274 ?",
            "Confirm.receivers LONG 8401 ?",
            "Confirm.position LONG 8401 ?",
            "Confirm.repeated BOOLEAN 01 ?",
            "Confirm.creation LONG 8401 ?"));
    records.put(
        "GAP",
        parts(
            "Gap.topic STRING 0274",
            "Gap.producer LONG 8401",
            "Gap.from LONG 8401",
            "Gap.to LONG 8401",
            "Gap.reason ENUM 02"));
    records.put("BARRIER", parts("Barrier.id LONG 8401"));
    records.put("DRAINED", parts("Drained.id LONG 8401"));
    records.put(
        "DATA",
        parts(
            "Data.call LONG 8401",
            "Data.offset LONG 8401",
            "Data.more BOOLEAN 01",
            "Data.last BOOLEAN 01",
            "Data.payload BYTES 04ffff"));
    records.put(
        "CREDIT",
        parts(
            "Credit.call LONG 8401",
            "Credit.limit LONG 8401",
            "Credit.received LONG 8401",
            "Credit.consumer LONG 8401 ?"));
    records.put(
        "AUTHENTICATE",
        parts(
            "Authenticate.token STRING 0274",
            "Authenticate.user UNION 02 ?",
            "Authenticate.user STRING 0275"));
    records.put(
        "REGISTER",
        parts(
            "Register.id LONG 8401",
            "Register.service STRING 0273",
            "Register.concurrency INT 8401 ?",
            "Register.identify BOOLEAN 01 ?",
            "Register.version STRING 0276 ?",
            "Register.metadata BLOCK 02 ?",
            "Register.metadata STRING 026e",
            "Register.metadata STRING 0276",
            "Register.metadata END 00"));
    records.put("UNREGISTER", parts("Unregister.id LONG 8401"));
    records.put(
        "REQUEST",
        parts(
            "Request.call LONG 8401",
            "Request.service STRING 0273",
            "Request.method STRING 026d",
            "Request.kind ENUM 02",
            "Request.scope ENUM 02",
            "Request.priority ENUM 02",
            "Request.timeoutMillis INT 8401",
            "Request.waitMillis INT 8401",
            "Request.idempotent BOOLEAN 01",
            "Request.attempt INT 8401",
            "Request.member LONG 8401",
            "Request.schema LONG 8401",
            "Event.publishedAt LONG 8401",
            "Event.key UNION 02",
            "Event.key STRING 026b",
            "Event.headers BLOCK 02",
            "Event.headers STRING 026e",
            "Event.headers STRING 0276",
            "Event.headers END 00",
            "Event.payload BYTES 04ffff",
            "Request.limit LONG 8401 ?"));
    records.put(
        "INVOKE",
        parts(
            "Invoke.call LONG 8401",
            "Invoke.service LONG 8401",
            "Invoke.method STRING 026d",
            "Invoke.kind ENUM 02",
            "Invoke.timeoutMillis INT 8401",
            "Invoke.caller LONG 8401",
            "Invoke.request LONG 8401",
            "Invoke.attempt INT 8401",
            "Invoke.identity STRING 0269",
            "Invoke.receivedAt LONG 8401",
            "Invoke.schema LONG 8401",
            "Event.publishedAt LONG 8401",
            "Event.key UNION 02",
            "Event.key STRING 026b",
            "Event.headers BLOCK 02",
            "Event.headers STRING 026e",
            "Event.headers STRING 0276",
            "Event.headers END 00",
            "Event.payload BYTES 04ffff",
            "Invoke.limit LONG 8401 ?"));
    records.put(
        "REPLY",
        parts(
            "Reply.call LONG 8401",
            "Reply.member LONG 8401",
            "Reply.queuedMicros INT 8401",
            "Reply.handledMicros INT 8401",
            "Reply.schema LONG 8401",
            "Event.publishedAt LONG 8401",
            "Event.key UNION 02",
            "Event.key STRING 026b",
            "Event.headers BLOCK 02",
            "Event.headers STRING 026e",
            "Event.headers STRING 0276",
            "Event.headers END 00",
            "Event.payload BYTES 04ffff",
            "Reply.more BOOLEAN 01 ?",
            "Reply.limit LONG 8401 ?"));
    records.put(
        "FAILURE",
        parts(
            "Failure.call LONG 8401",
            "Failure.code ENUM 02",
            "Failure.message STRING 026d",
            "Failure.executed ENUM 02",
            "Failure.retryAfterMillis LONG 8401 ?",
            "Failure.member LONG 8401 ?",
            "Failure.type STRING 0274 ?",
            "Failure.details BYTES 04ffff ?",
            "Failure.more BOOLEAN 01 ?"));
    records.put("CANCEL", parts("Cancel.call LONG 8401", "Cancel.reason STRING 0272 ?"));
    records.put("CAPACITY", parts("Capacity.id LONG 8401", "Capacity.concurrency INT 8401"));
    records.put("ECHO", parts("Echo.id LONG 8401"));
    records.put(
        "CONSUME",
        parts(
            "Consume.id LONG 8401",
            "Consume.filter STRING 0261",
            "Consume.journal STRING 026a",
            "Consume.name STRING 026e",
            "Consume.mode ENUM 02",
            "Consume.start ENUM 04",
            "Consume.from LONG 8401",
            "Consume.limit LONG 8401",
            "Consume.creation LONG 8401 ?",
            "Consume.otherStart ENUM 04 ?",
            "Consume.otherFrom LONG 8401 ?",
            "Consume.maxEvents INT 8401 ?",
            "Consume.ackTimeoutMillis INT 8401 ?",
            "Consume.maxAttempts INT 8401 ?"));
    records.put(
        "FEED",
        parts(
            "Feed.id LONG 8401",
            "Feed.from LONG 8401",
            "Feed.to LONG 8401",
            "Feed.head LONG 8401",
            "Feed.frames BYTES 04ffff",
            "Feed.attempt INT 8401 ?"));
    records.put(
        "SETTLE",
        parts(
            "Settle.id LONG 8401",
            "Settle.upTo LONG 8401",
            "Settle.confirm BOOLEAN 01",
            "Settle.creation LONG 8401 ?",
            "Settle.from LONG 42 ?",
            "Settle.outcome ENUM 02 ?",
            "Settle.attempt INT 8401 ?",
            "Settle.delayMillis INT 8401 ?",
            "Settle.reason STRING 0272 ?"));
    records.put(
        "ASK",
        parts(
            "Ask.id LONG 8401",
            "Ask.journal STRING 026a",
            "Ask.topic STRING 0274",
            "Ask.name STRING 026e",
            "Ask.time LONG 8401"));
    records.put(
        "TOLD",
        parts(
            "Told.id LONG 8401",
            "Told.journal STRING 026a",
            "Told.first LONG 8401",
            "Told.last LONG 8401",
            "Told.topicLast LONG 8401",
            "Told.atTime LONG 8401",
            "Told.settled LONG 8401"));
    records.put(
        "TRUNCATED",
        parts(
            "Truncated.id LONG 8401",
            "Truncated.from LONG 8401",
            "Truncated.to LONG 8401",
            "Truncated.reason ENUM 02"));
    records.put(
        "CHANGE_BUS_FAILED",
        parts("ChangeBusFailed.token STRING 0274", "ChangeBusFailed.message STRING 026d ?"));
    records.put("FRAME", parts("Frame.typeCode INT 8401", "Frame.body BYTES 04ffff"));
    return records;
  }

  private static List<Part> parts(String... lines) {
    List<Part> parts = new ArrayList<>();
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      // "t" and an accent: a string that can be cut inside a character.
      String hex = words[2].equals("0474c3") ? "0674c3a4" : words[2];
      parts.add(new Part(words[0], Kind.valueOf(words[1]), hex, words.length == 4));
    }
    return parts;
  }

  private static List<Break> breaks(Kind kind) {
    return switch (kind) {
      case LONG ->
          List.of(
              new Break("cut", "84", true),
              new Break("without end", "ffffffffffffffffffffff", false),
              new Break("of 65 bits", "ffffffffffffffffff02", false));
      case INT ->
          List.of(
              new Break("cut", "84", true),
              new Break("of 33 bits", "8080808010", false),
              new Break("padded", "848080808000", false));
      case BOOLEAN ->
          List.of(
              new Break("missing", "", true),
              new Break("of 2", "02", false),
              new Break("of 255", "ff", false));
      case STRING -> {
        List<Break> breaks = new ArrayList<>(lengths());
        breaks.add(new Break("not UTF-8", "02ff", false));
        breaks.add(new Break("cut inside a character", "02c3", false));
        breaks.add(new Break("with a surrogate", "06eda080", false));
        yield breaks;
      }
      case BYTES -> lengths();
      case UNION ->
          List.of(
              new Break("cut", "80", true),
              new Break("index 2", "04", false),
              new Break("index -1", "01", false),
              new Break("index of 33 bits", "8080808010", false),
              new Break("padded", "828080808000", false));
      case ENUM ->
          List.of(
              new Break("missing", "", true),
              new Break("cut", "80", true),
              new Break("symbol -1", "01", false),
              new Break("symbol of 33 bits", "8080808010", false),
              new Break("padded", "828080808000", false));
      case BLOCK, END ->
          List.of(
              new Break("cut", "80", true),
              new Break("of more items than fit", "fe01", false),
              new Break("of 2^62 items", "8080808080808080 8001".replace(" ", ""), false),
              new Break("of -2^63 items", "ffffffffffffffffff01", false),
              new Break("of a negative size", "0101", false),
              new Break("of a size that lies", "01fe01", false),
              new Break("of 4 GiB", "018080808020", false),
              new Break("without its size", "01", true),
              new Break("of no bytes", "0100", false));
    };
  }

  private static List<Break> lengths() {
    return List.of(
        new Break("cut", "80", true),
        new Break("of length -1", "01", false),
        new Break("of length -2^63", "ffffffffffffffffff01", false),
        new Break("longer than what is left", "7e", false),
        new Break("of one byte too many", "026100".substring(0, 2), true),
        new Break("of 4 GiB", "8080808020", false),
        new Break("of 4 GiB and 1", "8280808020", false),
        new Break("of 2^62", "80808080808080808001", false));
  }

  static Stream<Arguments> broken() {
    return RECORDS.entrySet().stream()
        .flatMap(
            record ->
                IntStream.range(0, record.getValue().size())
                    .boxed()
                    .flatMap(
                        part ->
                            breaks(record.getValue().get(part).kind()).stream()
                                .map(b -> Arguments.of(record.getKey(), part, b))));
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @MethodSource("broken")
  void isRefusedByName(String record, int part, Break how) {
    List<Part> parts = partsOf(record);
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (int i = 0; i < parts.size(); i++) {
      if (i == part) {
        body.writeBytes(HexFormat.of().parseHex(how.hex()));
        if (how.last()) {
          break;
        }
      } else {
        body.writeBytes(HexFormat.of().parseHex(parts.get(i).hex()));
      }
    }

    if (how.hex().isEmpty() && parts.get(part).optional()) {
      read(record, body.toByteArray());
      return;
    }
    assertThatThrownBy(() -> read(record, body.toByteArray()))
        .as(HexFormat.of().formatHex(body.toByteArray()))
        .isInstanceOf(MalformedFrameException.class)
        .satisfies(e -> assertNames(parts.get(part).field(), e))
        .hasMessageMatching("[A-Za-z. ]+: .* at byte \\d+ \\(expected: .+\\)");
  }

  static Stream<String> names() {
    return RECORDS.keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("names")
  void isRefusedWhenCutAnywhereButBeforeADefault(String record) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (Part part : partsOf(record)) {
      byte[] bytes = HexFormat.of().parseHex(part.hex());
      for (int i = 0; i < bytes.length; i++) {
        byte[] cut = body.toByteArray();
        if (i == 0 && (part.optional() || (record.equals("FRAME") && cut.length == 0))) {
          read(record, cut);
        } else {
          assertThatThrownBy(() -> read(record, cut))
              .as("cut in %s", part.field())
              .isInstanceOf(MalformedFrameException.class)
              .satisfies(e -> assertNames(part.field(), e));
        }
        body.write(bytes[i]);
      }
    }
    // The whole of it is legal, or the table would prove nothing.
    read(record, body.toByteArray());
  }

  /**
   * Asserts that the error names the field. An event that is cut before its fourth byte is missed
   * already where the block is counted.
   */
  private static void assertNames(String field, Throwable e) {
    if (!(field.equals("Event.publishedAt") || field.equals("Event.key"))
        || !String.valueOf(e.getMessage()).startsWith("events: block count 1 ")) {
      assertThat(e).hasMessageStartingWith(field);
    }
  }

  @Test
  void aSizedBlockMustEndWhereItsItemsEnd() {
    // An array of one long, the item being 2 bytes: sizes of 1, 2 and 3.
    String head = "0274" + "02".repeat(5) + "00";
    for (int size : new int[] {1, 3}) {
      byte[] body = HexFormat.of().parseHex(head + "01" + "0" + size * 2 + "840100" + "0000");
      assertThatThrownBy(() -> read("DELIVER", body))
          .isInstanceOf(MalformedFrameException.class)
          .hasMessageStartingWith("Deliver.groups: a block whose items end here at byte");
    }
    read("DELIVER", HexFormat.of().parseHex(head + "0104840100"));
  }

  @Test
  void theTableHasEveryRecord() {
    List<String> names = new ArrayList<>();
    for (TypeCode type : TypeCode.values()) {
      names.add(type.name());
    }
    names.add("FRAME");
    assertThat(RECORDS.keySet()).containsExactlyInAnyOrderElementsOf(names);
  }

  private static List<Part> partsOf(String record) {
    List<Part> parts = RECORDS.get(record);
    if (parts == null) {
      throw new AssertionError(record);
    }
    return parts;
  }

  private static void read(String record, byte[] body) {
    if (record.equals("FRAME")) {
      FrameCursor cursor = new FrameCursor().wrap(ByteBuffer.wrap(body), 0, body.length);
      while (cursor.next()) {
        assertThat(cursor.bodyEnd()).isLessThanOrEqualTo(body.length);
      }
    } else {
      Bodies.read(TypeCode.valueOf(record), body);
    }
  }
}
