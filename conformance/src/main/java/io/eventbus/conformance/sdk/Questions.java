package io.eventbus.conformance.sdk;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.conformance.frame.FrameTypes;
import io.eventbus.conformance.frame.KitFrame;
import io.eventbus.conformance.frame.RecordWriter;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import java.util.HexFormat;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;
import org.jspecify.annotations.Nullable;

/** Operations without a client: frames, names, fingerprints. */
final class Questions {
  private Questions() {}

  /** Returns the answer without its id; null for an unknown operation. */
  static @Nullable ObjectNode answer(String op, JsonNode args) {
    return switch (op) {
      case "decode" -> decode(args.path("hex").asText());
      case "encode" -> ok(encode(args));
      case "checkTopic" -> legal(Topic.problem(args.path("topic").asText()));
      case "checkFilter" -> legal(TopicFilter.problem(args.path("filter").asText()));
      case "match" ->
          wrap(
              ok().put(
                      "matches",
                      TopicFilter.parse(args.path("filter").asText())
                          .matches(args.path("topic").asText())));
      case "fingerprint" -> fingerprint(args.path("schema").asText());
      default -> null;
    };
  }

  private static ObjectNode ok() {
    return Output.object();
  }

  private static ObjectNode wrap(ObjectNode answer) {
    return Output.object().set("ok", answer);
  }

  private static ObjectNode ok(String hex) {
    return wrap(ok().put("hex", hex));
  }

  private static ObjectNode legal(@Nullable String problem) {
    return wrap(ok().put("legal", problem == null));
  }

  private static String encode(JsonNode args) {
    TypeCode type = TypeCode.of(args.path("typeCode").intValue());
    if (type == null) {
      throw new IllegalArgumentException("typeCode: " + args.path("typeCode"));
    }
    return HexFormat.of().formatHex(RecordWriter.asBuses().frame(type, args.path("record")));
  }

  private static ObjectNode decode(String hex) {
    ObjectNode answer = ok();
    ArrayNode frames = answer.putArray("frames");
    try {
      for (KitFrame frame : KitFrame.read(HexFormat.of().parseHex(hex))) {
        if (!frame.name().equals("Unknown")) {
          frames
              .addObject()
              .put("typeCode", FrameTypes.of(frame.name()).code())
              .set("record", frame.record());
        }
      }
    } catch (MalformedFrameException e) {
      ObjectNode error = Output.object().put("code", "MALFORMED").put("retryable", false);
      return Output.object().set("error", error.put("message", e.getMessage()));
    }
    return wrap(answer);
  }

  private static ObjectNode fingerprint(String json) {
    Schema schema = new Schema.Parser().parse(json);
    return wrap(
        ok().put("fingerprint", Long.toString(SchemaNormalization.parsingFingerprint64(schema))));
  }
}
