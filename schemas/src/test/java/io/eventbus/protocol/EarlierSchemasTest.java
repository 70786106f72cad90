package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.avro.Protocol;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Schemas of an earlier version, as its clients and buses have them: what this version writes they
 * can read, and what they write this version can.
 */
class EarlierSchemasTest {
  private static final Protocol EARLIER = protocol("/before-durable-topics/eventbus.avpr");
  private static final Protocol NOW = protocol("/io/eventbus/schema/eventbus.avpr");

  private static Protocol protocol(String file) {
    try (InputStream in = EarlierSchemasTest.class.getResourceAsStream(file)) {
      return Protocol.parse(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Stream<TypeCode> earlierTypes() {
    return Arrays.stream(TypeCode.values()).filter(type -> earlier(type) != null);
  }

  private static Schema earlier(TypeCode type) {
    return EARLIER.getType("io.eventbus.schema." + FrameSchemas.of(type).getName());
  }

  @Test
  void itHasTheFramesOfItsTime() {
    assertThat(earlierTypes())
        .hasSize(26)
        .doesNotContain(TypeCode.CONSUME, TypeCode.FEED, TypeCode.SETTLE);
  }

  @ParameterizedTest
  @MethodSource("earlierTypes")
  void fieldsAreAddedOnlyAtTheEndAndWithADefault(TypeCode type) {
    assertBegins(earlier(type), NOW.getType(earlier(type).getFullName()));
  }

  private static void assertBegins(Schema before, Schema now) {
    assertThat(now.getType()).isEqualTo(before.getType());
    switch (before.getType()) {
      case RECORD -> {
        List<Schema.Field> fields = now.getFields();
        for (Schema.Field field : before.getFields()) {
          Schema.Field same = fields.get(field.pos());
          assertThat(same.name()).isEqualTo(field.name());
          assertThat(same.hasDefaultValue()).isEqualTo(field.hasDefaultValue());
          assertBegins(field.schema(), same.schema());
        }
        assertThat(fields.subList(before.getFields().size(), fields.size()))
            .allMatch(Schema.Field::hasDefaultValue);
      }
      case ARRAY -> assertBegins(before.getElementType(), now.getElementType());
      case ENUM -> assertThat(now.getEnumSymbols()).isEqualTo(before.getEnumSymbols());
      case INT -> {
        Object names = before.getObjectProp(PublishedSchemas.NAMES);
        if (names instanceof List<?> list
            && now.getObjectProp(PublishedSchemas.NAMES) instanceof List<?> after) {
          assertThat(after.subList(0, list.size())).isEqualTo(list);
        }
      }
      default -> {}
    }
  }

  @ParameterizedTest
  @MethodSource("earlierTypes")
  void anEarlierReaderReadsWhatThisVersionWrites(TypeCode type) {
    byte[] body = Bodies.bodyOf(type, ProtocolDocument.frame(type));
    Schema now = NOW.getType(earlier(type).getFullName());
    GenericRecord whole = Bodies.generic(now, body);

    GenericRecord read = prefix(earlier(type), body);

    for (Schema.Field field : earlier(type).getFields()) {
      assertThat(String.valueOf(read.get(field.pos())))
          .isEqualTo(String.valueOf(whole.get(field.pos())));
    }
  }

  @ParameterizedTest
  @MethodSource("earlierTypes")
  void thisVersionReadsWhatAnEarlierWriterWrites(TypeCode type) throws IOException {
    Schema earlier = earlier(type);
    byte[] example = Bodies.bodyOf(type, ProtocolDocument.frame(type));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
    new GenericDatumWriter<GenericRecord>(earlier).write(prefix(earlier, example), encoder);
    encoder.flush();
    byte[] body = bytes.toByteArray();

    // The fields that were added have their defaults.
    GenericRecord expected = Bodies.generic(NOW.getType(earlier.getFullName()), example);
    for (Schema.Field field : expected.getSchema().getFields()) {
      if (field.pos() >= earlier.getFields().size()) {
        expected.put(field.pos(), GenericData.get().getDefaultValue(field));
      }
    }
    assertThat(Bodies.read(type, body))
        .isEqualTo(Bodies.avro(FrameSchemas.of(type), Bodies.avro(expected)));
  }

  private static GenericRecord prefix(Schema schema, byte[] body) {
    try {
      BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(body, null);
      return new GenericDatumReader<GenericRecord>(schema).read(null, decoder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
