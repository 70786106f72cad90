package io.eventbus.conformance.frame;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.protocol.FrameSchemas;
import io.eventbus.protocol.TypeCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Writer of records from JSON: null or the value for a union, enums by name or number, 64-bit
 * integers as numbers or as text, bytes in base64. Missing members have the default of their field,
 * or 0, "" and empty.
 */
public final class RecordWriter {
  private final Blocks blocks;
  private final boolean asBuses;

  /** Makes a writer. */
  public RecordWriter(Blocks blocks) {
    this.blocks = blocks;
    this.asBuses = false;
  }

  private RecordWriter() {
    blocks = Blocks.COUNTED;
    asBuses = true;
  }

  /**
   * Returns a writer that chooses blocks as a bus does: the events of a {@code Deliver} and its
   * groups in one with its size, others in one without.
   */
  public static RecordWriter asBuses() {
    return new RecordWriter();
  }

  /**
   * Writes a whole frame.
   *
   * @throws IllegalArgumentException if the record has a member that is no field, or a value that
   *     is not of its field's type
   */
  public byte[] frame(TypeCode type, JsonNode record) {
    return Bytes.frame(type.code(), body(type, record, Integer.MAX_VALUE));
  }

  /**
   * Writes the first fields of a record.
   *
   * @param fields how many fields, at most
   * @throws IllegalArgumentException as for {@link #frame}
   */
  public byte[] body(TypeCode type, JsonNode record, int fields) {
    Bytes out = new Bytes();
    write(FrameSchemas.of(type), record, fields, out, FrameTypes.name(type));
    return out.toArray();
  }

  private void write(Schema schema, JsonNode value, int fields, Bytes out, String at) {
    value
        .fieldNames()
        .forEachRemaining(
            name -> {
              if (schema.getField(name) == null) {
                throw new IllegalArgumentException(
                    at + "." + name + ": no such field (expected: " + names(schema) + ")");
              }
            });
    int left = fields;
    for (Schema.Field field : schema.getFields()) {
      if (left-- == 0) {
        return;
      }
      JsonNode part = value.get(field.name());
      write(field.schema(), part, field.defaultVal(), out, at + "." + field.name());
    }
  }

  private static List<String> names(Schema schema) {
    return schema.getFields().stream().map(Schema.Field::name).toList();
  }

  private void write(
      Schema schema, @Nullable JsonNode value, @Nullable Object absent, Bytes out, String at) {
    if (value == null || value.isNull()) {
      writeAbsent(schema, absent, out, at);
      return;
    }
    switch (schema.getType()) {
      case UNION -> write(schema.getTypes().get(1), value, null, out.number(1), at);
      case INT, LONG -> out.number(number(value, at));
      case BOOLEAN -> out.raw(value.booleanValue() ? 1 : 0);
      case STRING -> out.text(value.asText());
      case BYTES -> out.sized(bytes(value, at));
      case ENUM -> out.number(symbol(schema, value, at));
      case RECORD -> write(schema, value, Integer.MAX_VALUE, out, at);
      case ARRAY -> {
        Schema element = schema.getElementType();
        List<byte[]> items = new ArrayList<>();
        for (JsonNode item : value) {
          Bytes one = new Bytes();
          write(element, item, null, one, at + "[" + items.size() + "]");
          items.add(one.toArray());
        }
        block(items, element.getType() != Schema.Type.STRING, out);
      }
      case MAP -> {
        List<byte[]> items = new ArrayList<>();
        for (Map.Entry<String, JsonNode> entry : value.properties()) {
          items.add(new Bytes().text(entry.getKey()).text(entry.getValue().asText()).toArray());
        }
        block(items, false, out);
      }
      default -> throw new IllegalArgumentException(at + ": of type " + schema.getType());
    }
  }

  private static void writeAbsent(Schema schema, @Nullable Object absent, Bytes out, String at) {
    switch (schema.getType()) {
      case INT, LONG -> out.number(absent instanceof Number number ? number.longValue() : 0);
      case ENUM -> out.number(absent == null ? 0 : schema.getEnumOrdinal(String.valueOf(absent)));
      // Empty text, null, false and no block are the same byte.
      case UNION, BOOLEAN, STRING, BYTES, ARRAY, MAP -> out.raw(0);
      default -> throw new IllegalArgumentException(at + ": nothing (expected: an object)");
    }
  }

  private void block(List<byte[]> items, boolean sizedByBuses, Bytes out) {
    Blocks way = asBuses && sizedByBuses ? Blocks.SIZED : blocks;
    if (way == Blocks.EACH) {
      boolean sized = true;
      for (byte[] item : items) {
        one(List.of(item), sized, out);
        sized = !sized;
      }
    } else if (!items.isEmpty()) {
      one(items, way == Blocks.SIZED, out);
    }
    out.number(0);
  }

  private static void one(List<byte[]> items, boolean sized, Bytes out) {
    out.number(sized ? -items.size() : items.size());
    if (sized) {
      out.number(items.stream().mapToInt(item -> item.length).sum());
    }
    items.forEach(out::raw);
  }

  private static long number(JsonNode value, String at) {
    try {
      return value.isIntegralNumber() ? value.longValue() : Long.parseLong(value.asText());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(at + ": " + value + " (expected: an integer)", e);
    }
  }

  private static long symbol(Schema schema, JsonNode value, String at) {
    if (value.isIntegralNumber()) {
      return value.longValue();
    }
    if (!schema.hasEnumSymbol(value.asText())) {
      throw new IllegalArgumentException(
          at + ": " + value + " (expected: a number or one of " + schema.getEnumSymbols() + ")");
    }
    return schema.getEnumOrdinal(value.asText());
  }

  private static byte[] bytes(JsonNode value, String at) {
    try {
      return value.binaryValue();
    } catch (IOException e) {
      throw new UncheckedIOException(at + ": " + value + " (expected: base64)", e);
    }
  }
}
