package io.eventbus.conformance.frame;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.protocol.FrameSchemas;
import io.eventbus.protocol.TypeCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;

/**
 * Reads records into the JSON that {@link RecordWriter} writes, with Avro's own decoder: a second
 * implementation beside the parsers of the bus, which have checked the bytes.
 */
final class RecordReader {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private RecordReader() {}

  static ObjectNode read(TypeCode type, byte[] body) throws IOException {
    BinaryDecoder in = DecoderFactory.get().binaryDecoder(body, null);
    ObjectNode record = JSON.objectNode();
    for (Schema.Field field : FrameSchemas.of(type).getFields()) {
      // Missing fields have their defaults; a bus of this version writes all.
      record.set(field.name(), in.isEnd() ? absent(field) : value(field.schema(), in));
    }
    return record;
  }

  private static JsonNode absent(Schema.Field field) {
    return switch (field.schema().getType()) {
      case UNION -> JSON.nullNode();
      case INT -> JSON.numberNode(((Number) field.defaultVal()).intValue());
      case LONG -> JSON.textNode(field.defaultVal().toString());
      case BOOLEAN -> JSON.booleanNode((Boolean) field.defaultVal());
      case STRING, ENUM -> JSON.textNode(field.defaultVal().toString());
      case BYTES -> JSON.binaryNode(new byte[0]);
      case MAP -> JSON.objectNode();
      case ARRAY -> JSON.arrayNode();
      default -> throw new IllegalArgumentException(field.name() + ": has no default");
    };
  }

  private static JsonNode value(Schema schema, BinaryDecoder in) throws IOException {
    return switch (schema.getType()) {
      case UNION -> in.readIndex() == 0 ? nothing(in) : value(schema.getTypes().get(1), in);
      case INT -> JSON.numberNode(in.readInt());
      case LONG -> JSON.textNode(Long.toString(in.readLong()));
      case BOOLEAN -> JSON.booleanNode(in.readBoolean());
      case STRING -> JSON.textNode(in.readString());
      case BYTES -> bytes(in.readBytes(null));
      case ENUM -> symbol(schema, in.readEnum());
      case RECORD -> {
        ObjectNode record = JSON.objectNode();
        for (Schema.Field field : schema.getFields()) {
          record.set(field.name(), value(field.schema(), in));
        }
        yield record;
      }
      case ARRAY -> {
        ArrayNode items = JSON.arrayNode();
        for (long n = in.readArrayStart(); n > 0; n = in.arrayNext()) {
          for (long i = 0; i < n; i++) {
            items.add(value(schema.getElementType(), in));
          }
        }
        yield items;
      }
      case MAP -> {
        ObjectNode entries = JSON.objectNode();
        for (long n = in.readMapStart(); n > 0; n = in.mapNext()) {
          for (long i = 0; i < n; i++) {
            String name = in.readString();
            entries.set(name, JSON.textNode(in.readString()));
          }
        }
        yield entries;
      }
      default -> throw new IllegalArgumentException("a field of type " + schema.getType());
    };
  }

  private static JsonNode nothing(BinaryDecoder in) throws IOException {
    in.readNull();
    return JSON.nullNode();
  }

  private static JsonNode bytes(ByteBuffer bytes) {
    byte[] copy = new byte[bytes.remaining()];
    bytes.get(copy);
    return JSON.binaryNode(copy);
  }

  /** Reads a symbol; an unknown one is the default of its enum. */
  private static JsonNode symbol(Schema schema, int ordinal) {
    return JSON.textNode(
        ordinal >= 0 && ordinal < schema.getEnumSymbols().size()
            ? schema.getEnumSymbols().get(ordinal)
            : schema.getEnumDefault());
  }
}
