package io.eventbus.conformance.vector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.conformance.frame.FrameTypes;
import io.eventbus.conformance.frame.KitFrame;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.TypeCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the advice of the protocol's page for authors who read bodies with an Avro library and the
 * published schemas.
 */
class AvroLibraryTest {
  static Stream<JsonNode> frames() {
    return vectors("frames.json");
  }

  static Stream<JsonNode> refused() {
    return vectors("refused.json").filter(vector -> !vector.path("strict").asBoolean());
  }

  private static Stream<JsonNode> vectors(String file) {
    return StreamSupport.stream(
            Objects.requireNonNull(VectorFiles.vectors().get(file)).spliterator(), false)
        .filter(vector -> !vector.get("from").asText().equals("client"));
  }

  @ParameterizedTest
  @MethodSource("frames")
  void takesWhatABusSends(JsonNode vector) throws IOException {
    List<Map<String, Object>> read = read(bytes(vector));

    assertThat(read).hasSameSizeAs(vector.get("frames"));
    for (int i = 0; i < read.size(); i++) {
      JsonNode wanted = vector.get("frames").get(i).get("record");
      read.get(i)
          .forEach(
              (name, value) -> {
                if (value instanceof CharSequence || value instanceof Long) {
                  assertThat(value).as(name).hasToString(wanted.get(name).asText());
                } else if (value instanceof Boolean flag) {
                  assertThat(flag).as(name).isEqualTo(wanted.get(name).asBoolean());
                } else if (value instanceof List<?> list) {
                  assertThat(list).as(name).hasSameSizeAs(wanted.get(name));
                }
              });
    }
  }

  @ParameterizedTest
  @MethodSource("refused")
  void refusesWhatIsNoRecord(JsonNode vector) {
    assertThatThrownBy(() -> read(bytes(vector))).isInstanceOf(Exception.class);
  }

  private static byte[] bytes(JsonNode vector) {
    return HexFormat.of().parseHex(vector.get("hex").asText());
  }

  /** Returns the records of the known frames. */
  private static List<Map<String, Object>> read(byte[] message) throws IOException {
    List<Map<String, Object>> records = new ArrayList<>();
    FrameCursor cursor = new FrameCursor().wrap(ByteBuffer.wrap(message), 0, message.length);
    while (cursor.next()) {
      TypeCode type = TypeCode.of(cursor.typeCode());
      if (type != null) {
        int length = cursor.bodyEnd() - cursor.bodyStart();
        records.add(
            record(
                schema(FrameTypes.name(type)),
                DecoderFactory.get().binaryDecoder(message, cursor.bodyStart(), length, null)));
      }
    }
    return records;
  }

  private static Schema schema(String record) throws IOException {
    try (InputStream in =
        KitFrame.class.getResourceAsStream("/io/eventbus/schema/" + record + ".avsc")) {
      return new Schema.Parser().parse(in);
    }
  }

  /** Reads a record field by field, each by its own type, as the page says. */
  private static Map<String, Object> record(Schema schema, BinaryDecoder body) throws IOException {
    Map<String, Object> record = new LinkedHashMap<>();
    for (Schema.Field field : schema.getFields()) {
      Object value =
          body.isEnd() && field.hasDefaultValue()
              ? GenericData.get().getDefaultValue(field)
              : new GenericDatumReader<>(field.schema()).read(null, body);
      record.put(field.name(), value);
    }
    return record;
  }
}
