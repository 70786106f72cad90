package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Protocol;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericEnumSymbol;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.IndexedRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Schemas that other Avro libraries read, as they are in the jar. */
class PublishedSchemasTest {
  @Test
  void theFilesAreWhatTheIdlSays() throws IOException {
    Path folder = ProtocolDocument.find(Path.of("schemas", "avro"));
    Path expected = folder.resolveSibling("target").resolve("avro");
    Files.createDirectories(expected);
    Map<String, String> files = PublishedSchemas.files();
    for (Map.Entry<String, String> file : files.entrySet()) {
      Files.writeString(expected.resolve(file.getKey()), file.getValue());
    }
    String remedy = "cp schemas/target/avro/* schemas/avro/";
    for (Map.Entry<String, String> file : files.entrySet()) {
      assertThat(published(file.getKey())).as(remedy).isEqualTo(file.getValue());
    }
    try (Stream<Path> all = Files.list(folder)) {
      Set<String> names = all.map(p -> p.getFileName().toString()).collect(Collectors.toSet());
      assertThat(names).isEqualTo(files.keySet());
    }
  }

  private static String published(String name) {
    try (InputStream in =
        PublishedSchemasTest.class.getResourceAsStream("/io/eventbus/schema/" + name)) {
      return in == null ? "none" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new AssertionError(name + " cannot be read", e);
    }
  }

  private static Schema schema(String record) {
    return new Schema.Parser().parse(published(record + ".avsc"));
  }

  @ParameterizedTest
  @EnumSource
  void theExampleOfThePageIsReadWithIt(TypeCode type) {
    byte[] frame = ProtocolDocument.frame(type);
    GenericRecord outer = Bodies.generic(schema("Frame"), frame);
    assertThat(outer.get("typeCode")).isEqualTo(type.code());
    byte[] body = Bodies.bytes((java.nio.ByteBuffer) outer.get("body"));
    String record = FrameSchemas.of(type).getName();

    GenericRecord alone = Bodies.generic(schema(record), body);
    assertSame(alone, Bodies.generic(FrameSchemas.of(type), body));
    Protocol all = Protocol.parse(published(PublishedSchemas.PROTOCOL_FILE));
    assertThat(Bodies.generic(all.getType("io.eventbus.schema." + record), body)).isEqualTo(alone);
    // And a record that a library writes with it is read as the same.
    assertThat(Bodies.generic(schema(record), Bodies.avro(alone))).isEqualTo(alone);
  }

  /** Asserts equal values; an enum of the IDL may be its number. */
  private static void assertSame(IndexedRecord published, IndexedRecord idl) {
    List<Schema.Field> fields = idl.getSchema().getFields();
    assertThat(published.getSchema().getFields()).hasSameSizeAs(fields);
    for (Schema.Field field : fields) {
      Object ours = published.get(field.pos());
      Object theirs = idl.get(field.pos());
      assertThat(published.getSchema().getFields().get(field.pos()).name()).isEqualTo(field.name());
      if (theirs instanceof GenericEnumSymbol<?> symbol && ours instanceof Integer number) {
        Schema was = field.schema();
        Schema is = published.getSchema().getFields().get(field.pos()).schema();
        assertThat(was.getEnumSymbols().get(number)).isEqualTo(symbol.toString());
        assertThat(is.getObjectProp(PublishedSchemas.NAMES)).isEqualTo(was.getEnumSymbols());
      } else {
        // Also where the one is the library's text and the other a string.
        assertThat(String.valueOf(ours)).isEqualTo(String.valueOf(theirs));
      }
    }
  }

  /**
   * Checks that the enums that can get another symbol are numbers: only {@code Overflow} stays an
   * enum.
   */
  @ParameterizedTest
  @EnumSource
  void aSymbolThatALaterVersionAddsIsANumber(TypeCode type) {
    Schema idl = FrameSchemas.of(type);
    GenericRecord record =
        Bodies.generic(schema(idl.getName()), Bodies.bodyOf(type, ProtocolDocument.frame(type)));
    for (Schema.Field field : idl.getFields()) {
      if (field.schema().getType() != Schema.Type.ENUM
          || field.schema().getName().equals("Overflow")) {
        continue;
      }
      Object before = record.get(field.name());
      record.put(field.name(), 63);
      byte[] body = Bodies.avro(record);
      assertThat(Bodies.generic(record.getSchema(), body)).isEqualTo(record);
      assertThatThrownBy(() -> Bodies.generic(idl, body))
          .isInstanceOfAny(AvroRuntimeException.class, IndexOutOfBoundsException.class);
      record.put(field.name(), before);
    }
  }
}
