package io.eventbus.protocol;

import io.eventbus.schema.EventBusProtocol;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.avro.Protocol;
import org.apache.avro.Schema;
import org.apache.avro.SchemaFormatter;

/**
 * Schemas as files for other Avro libraries: a protocol with all of them, and each frame's record
 * for itself.
 *
 * <p>They are those of the IDL but for two things. Properties for Java are left out. And an enum
 * that may get new symbols is an {@code int}, whose bytes are the same: with the enum a library
 * fails at a symbol that it does not know, or takes it for another one.
 */
final class PublishedSchemas {
  static final String PROTOCOL_FILE = "eventbus.avpr";

  /** Property of an int that was an enum: the names of the numbers from 0. */
  static final String NAMES = "names";

  /** Enums that never get another symbol. */
  private static final Set<String> FIXED = Set.of("Overflow");

  /** Records that are parts of frames. */
  private static final Set<String> PARTS = Set.of("Event", "Limits");

  private final Map<String, Schema> made = new LinkedHashMap<>();

  private PublishedSchemas() {}

  /** Returns the files' names and texts. */
  static Map<String, String> files() {
    Protocol idl = EventBusProtocol.PROTOCOL;
    PublishedSchemas schemas = new PublishedSchemas();
    List<Schema> types = new ArrayList<>();
    Map<String, String> files = new LinkedHashMap<>();
    for (Schema type : idl.getTypes()) {
      if (growing(type)) {
        continue;
      }
      Schema plain = schemas.plain(type);
      types.add(plain);
      if (type.getType() == Schema.Type.RECORD && !PARTS.contains(type.getName())) {
        files.put(type.getName() + ".avsc", SchemaFormatter.format("json/pretty", plain) + "\n");
      }
    }
    Protocol protocol = new Protocol(idl.getName(), idl.getDoc(), idl.getNamespace());
    protocol.setTypes(types);
    files.put(PROTOCOL_FILE, protocol.toString(true) + "\n");
    return files;
  }

  private Schema plain(Schema schema) {
    return switch (schema.getType()) {
      case RECORD -> record(schema);
      case ENUM -> enumeration(schema);
      case ARRAY -> Schema.createArray(plain(schema.getElementType()));
      case MAP -> Schema.createMap(plain(schema.getValueType()));
      case UNION -> Schema.createUnion(schema.getTypes().stream().map(this::plain).toList());
      default -> Schema.create(schema.getType());
    };
  }

  private Schema record(Schema schema) {
    Schema known = made.get(schema.getName());
    if (known != null) {
      return known;
    }
    List<Schema.Field> fields = new ArrayList<>();
    for (Schema.Field field : schema.getFields()) {
      Schema type = plain(field.schema());
      fields.add(
          field.hasDefaultValue()
              ? new Schema.Field(field.name(), type, field.doc(), defaultOf(field))
              : new Schema.Field(field.name(), type, field.doc()));
    }
    Schema plain =
        Schema.createRecord(
            schema.getName(), schema.getDoc(), schema.getNamespace(), false, fields);
    made.put(schema.getName(), plain);
    return plain;
  }

  private static boolean growing(Schema type) {
    return type.getType() == Schema.Type.ENUM && !FIXED.contains(type.getName());
  }

  private static Object defaultOf(Schema.Field field) {
    return growing(field.schema())
        ? field.schema().getEnumOrdinal((String) field.defaultVal())
        : field.defaultVal();
  }

  private static Schema enumeration(Schema schema) {
    if (growing(schema)) {
      Schema number = Schema.create(Schema.Type.INT);
      number.addProp(NAMES, schema.getEnumSymbols());
      return number;
    }
    return Schema.createEnum(
        schema.getName(),
        schema.getDoc(),
        schema.getNamespace(),
        schema.getEnumSymbols(),
        schema.getEnumDefault());
  }
}
