package io.eventbus.conformance.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.conformance.frame.Blocks;
import io.eventbus.conformance.frame.Bytes;
import io.eventbus.conformance.frame.FrameTypes;
import io.eventbus.conformance.frame.RecordWriter;
import io.eventbus.protocol.TypeCode;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;

/**
 * Encoder of the frames that a script sends from the bus. A script names the record ({@code frame})
 * and the fields that matter; the others get values as from a bus.
 */
final class BusFrames {
  /** Well-formed resume; the bus of a script accepts any. */
  static final String RESUME = "q3fJ0yK8Zk1mWc7Hq2vXo5Tt9bLrNd4GsAeUiPwCxYE";

  private static final Set<String> OWN =
      Set.of(
          "frame",
          "text",
          "texts",
          "count",
          "size",
          "blocks",
          "fields",
          "more",
          "hex",
          "payloadHex",
          "expiresIn",
          "deliver");

  private static final long MICROS_IN_MILLI = 1000;

  private BusFrames() {}

  static byte[] message(JsonNode frames) {
    if (!frames.isArray()) {
      return frame(frames);
    }
    Bytes message = new Bytes();
    frames.forEach(frame -> message.raw(frame(frame)));
    return message.toArray();
  }

  private static byte[] frame(JsonNode wanted) {
    if (wanted.has("hex")) {
      return HexFormat.of().parseHex(wanted.get("hex").asText().replace(" ", ""));
    }
    String name = wanted.path("frame").asText();
    if (name.matches("\\d+")) {
      return Bytes.frame(Integer.parseInt(name), "unknown".getBytes(StandardCharsets.US_ASCII));
    }
    TypeCode type = FrameTypes.of(name);
    ObjectNode record = template(name);
    for (var member : wanted.properties()) {
      // "more" is a field of answers and of Data, too.
      if (!OWN.contains(member.getKey()) || member.getValue().isBoolean()) {
        if (record.get(member.getKey()) instanceof ObjectNode part) {
          part.setAll((ObjectNode) member.getValue());
        } else {
          record.set(member.getKey(), member.getValue());
        }
      }
    }
    if (wanted.has("expiresIn")) {
      long expiresAt =
          (System.currentTimeMillis() + wanted.get("expiresIn").longValue()) * MICROS_IN_MILLI;
      record.put(name.equals("Confirm") ? "about" : "expiresAt", expiresAt);
    }
    if (name.equals("Feed")) {
      record.put("frames", fed(wanted.path("deliver")));
    }
    if (name.equals("Deliver")) {
      record.set("events", events(wanted, record.get("sequence").asLong()));
    }
    if (wanted.has("text") && record.get("event") instanceof ObjectNode event) {
      event.put("payload", wanted.get("text").asText().getBytes(StandardCharsets.UTF_8));
    }
    if (name.equals("Data")) {
      String text =
          wanted.has("size")
              ? "x".repeat(wanted.get("size").intValue())
              : wanted.path("text").asText("");
      String hex = wanted.path("payloadHex").asText("").replace(" ", "");
      record.put(
          "payload",
          hex.isEmpty() ? text.getBytes(StandardCharsets.UTF_8) : HexFormat.of().parseHex(hex));
    }
    RecordWriter writer =
        wanted.has("blocks")
            ? new RecordWriter(
                Blocks.valueOf(wanted.get("blocks").asText().toUpperCase(Locale.ROOT)))
            : RecordWriter.asBuses();
    byte[] body = writer.body(type, record, wanted.path("fields").asInt(Integer.MAX_VALUE));
    String hex = wanted.path("more").isTextual() ? wanted.get("more").asText() : "";
    byte[] more = HexFormat.of().parseHex(hex);
    return Bytes.frame(type.code(), new Bytes().raw(body).raw(more).toArray());
  }

  /** Returns the frames of a Feed; those that are not named are Deliver. */
  private static byte[] fed(JsonNode frames) {
    Bytes fed = new Bytes();
    for (JsonNode wanted : frames) {
      ObjectNode frame = JsonNodeFactory.instance.objectNode().put("frame", "Deliver");
      fed.raw(frame(frame.setAll((ObjectNode) wanted)));
    }
    return fed.toArray();
  }

  private static ArrayNode events(JsonNode wanted, long sequence) {
    ArrayNode events = JsonNodeFactory.instance.arrayNode();
    for (JsonNode text : wanted.path("texts")) {
      add(events, text.asText().getBytes(StandardCharsets.UTF_8));
    }
    for (int i = 0; i < wanted.path("count").asInt(wanted.has("texts") ? 0 : 1); i++) {
      String payload =
          wanted.has("size")
              ? "x".repeat(wanted.get("size").intValue())
              : Long.toString(sequence + i);
      add(events, payload.getBytes(StandardCharsets.US_ASCII));
    }
    if (wanted.path("events").isArray()) {
      events.removeAll();
      wanted.get("events").forEach(events::add);
    }
    return events;
  }

  private static void add(ArrayNode events, byte[] payload) {
    events.addObject().put("publishedAt", 1763712000000000L).put("payload", payload);
  }

  private static void event(ObjectNode record) {
    record
        .putObject("event")
        .put("publishedAt", 1763712000000000L)
        .put("payload", "x".getBytes(StandardCharsets.US_ASCII));
  }

  private static ObjectNode template(String name) {
    ObjectNode record = JsonNodeFactory.instance.objectNode();
    switch (name) {
      case "Welcome" -> {
        record.put("bus", "scripted").put("session", "s-1").put("producer", "77");
        record.put("resume", RESUME);
        record
            .putObject("limits")
            .put("payloadBytes", 1 << 20)
            .put("messageBytes", 4 << 20)
            .put("headers", 64)
            .put("headerBytes", 16 * 1024)
            .put("subscriptions", 10_000)
            .put("queueBytes", 8 << 20);
        record.put("calls", 4096).put("services", 1000);
        record.put("tunnels", 1024).put("window", 4 << 20).put("durable", true);
      }
      case "Invoke" -> {
        record.put("call", "-1").put("method", "").put("kind", "REPLY");
        record.put("timeoutMillis", 5000).put("caller", "9").put("request", "1").put("attempt", 0);
        record.put("identity", "").put("receivedAt", 1763712000000900L).put("schema", "0");
        event(record);
        record.put("limit", "0");
      }
      case "Reply" -> {
        record.put("member", "12").put("queuedMicros", 1).put("handledMicros", 2);
        event(record.put("schema", "0"));
        record.put("limit", "0");
      }
      case "Data" -> record.put("offset", "0").put("more", false).put("last", false);
      case "Credit" -> record.put("received", "0");
      case "Failure" -> record.put("message", "failed by the script").put("executed", "NO");
      case "Deliver" -> {
        record.put("topic", "a.b").put("producer", "9").put("sequence", 1);
        record.put("receivedAt", 1763712000000900L).put("offset", -1);
      }
      case "Problem" -> record.put("message", "refused by the script").put("typeCode", -1);
      case "Gap" -> record.put("topic", "a.b").put("producer", "9").put("reason", "QUEUE_FULL");
      case "ChangeBus" -> {
        record.put("reason", "DRAIN").put("deadlineMillis", 30_000).put("token", "move-1");
        record.put("hops", 2);
      }
      default -> {
        // Scripts give all fields of the others.
      }
    }
    return record;
  }
}
