package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.specific.SpecificRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the protocol's document shows is what the code does. */
class ProtocolDocumentTest {
  private static final String TEXT = read(Path.of("docs", "protocol.md"));

  /** A file of the repository, whichever of its folders the test was started in. */
  private static String read(Path path) {
    Path folder = Path.of("").toAbsolutePath();
    while (folder != null && !Files.exists(folder.resolve(path))) {
      folder = folder.getParent();
    }
    if (folder == null) {
      throw new AssertionError("no " + path + " above " + Path.of("").toAbsolutePath());
    }
    try {
      return Files.readString(folder.resolve(path));
    } catch (IOException e) {
      throw new AssertionError(path + " cannot be read", e);
    }
  }

  @ParameterizedTest
  @EnumSource(TypeCode.class)
  void theExampleIsTheFrame(TypeCode type) throws IOException {
    String section = example(type);
    SpecificRecord expected = recordOf(type, block(section, "json"));
    byte[] frame = bytes(block(section, "hex"));

    FrameCursor cursor = new FrameCursor().wrap(ByteBuffer.wrap(frame), 0, frame.length);
    assertThat(cursor.next()).isTrue();
    assertThat(cursor.typeCode()).isEqualTo(type.code());
    assertThat(cursor.bodyEnd()).as("one frame and nothing else").isEqualTo(frame.length);
    byte[] body = Bodies.bodyOf(type, frame);
    assertThat(Bodies.read(type, body)).isEqualTo(expected);
    assertThat(Bodies.avro(expected.getSchema(), body)).isEqualTo(expected);
    assertThat(
            Bodies.avro(
                expected.getSchema(), Bodies.avro(Bodies.generic(expected.getSchema(), body))))
        .isEqualTo(expected);
    assertThat(block(section, "hex"))
        .contains("; Frame.typeCode: " + type.code() + "\n")
        .contains("; Frame.body: " + body.length + " bytes\n");
    if (type != TypeCode.PUBLISH && type != TypeCode.DELIVER) {
      assertThat(ControlFrames.encode(type, expected)).isEqualTo(frame);
    }
  }

  @Test
  void theEventsOfTheExamplesAreInTheFormThatABusPassesOn() {
    byte[] body = Bodies.bodyOf(TypeCode.PUBLISH, bytes(block(example(TypeCode.PUBLISH), "hex")));
    PublishView view = new PublishView();
    view.read(ByteBuffer.wrap(body), 0, body.length, FrameLimits.DEFAULT);
    byte[] deliver = bytes(block(example(TypeCode.DELIVER), "hex"));
    DeliverView delivered = new DeliverView();
    byte[] deliverBody = Bodies.bodyOf(TypeCode.DELIVER, deliver);
    delivered.read(ByteBuffer.wrap(deliverBody), 0, deliverBody.length, FrameLimits.DEFAULT);
    long[] groups = {delivered.group(0)};
    ByteBuffer out =
        ByteBuffer.allocate(
            Frames.deliverSize(
                view, delivered.producer(), delivered.receivedAt(), delivered.offset(), groups, 1));

    Frames.writeDeliver(
        out,
        ByteBuffer.wrap(body),
        view,
        delivered.producer(),
        delivered.receivedAt(),
        delivered.offset(),
        groups,
        1);

    assertThat(out.array()).isEqualTo(deliver);
  }

  @Test
  void theConfirmIsThatOfThePublish() {
    byte[] body = Bodies.bodyOf(TypeCode.PUBLISH, bytes(block(example(TypeCode.PUBLISH), "hex")));
    PublishView view = new PublishView();
    view.read(ByteBuffer.wrap(body), 0, body.length, FrameLimits.DEFAULT);
    ByteBuffer out = ByteBuffer.allocate(Frames.confirmSize(view));

    Frames.writeConfirm(out, ByteBuffer.wrap(body), view);

    assertThat(out.array()).isEqualTo(bytes(block(example(TypeCode.CONFIRM), "hex")));
  }

  @Test
  void theRecordsAreTheSchema() {
    String schema = read(Path.of("schemas", "src", "main", "avro", "eventbus.avdl")).strip();
    assertThat(TEXT).contains("```avdl\n" + schema + "\n```\n");
  }

  @Test
  void theErrorsAreAllThere() {
    Map<Integer, String> documented = new LinkedHashMap<>();
    Matcher row = Pattern.compile("(?m)^\\| (\\d+) \\| `([A-Z_]+)` \\|").matcher(section("Errors"));
    while (row.find()) {
      documented.put(Integer.valueOf(row.group(1)), row.group(2));
    }
    Schema codes = ErrorCode.getClassSchema();
    assertThat(documented).hasSameSizeAs(codes.getEnumSymbols());
    documented.forEach(
        (number, name) -> assertThat(codes.getEnumOrdinal(name)).as(name).isEqualTo(number));
  }

  @Test
  void theCloseCodesAreAllThere() {
    Map<Integer, Boolean> documented = new LinkedHashMap<>();
    Matcher row =
        Pattern.compile("(?m)^\\| (\\d{4}) \\| .* \\| (yes|no)[^|]*\\|$")
            .matcher(section("Close codes"));
    while (row.find()) {
      documented.put(Integer.valueOf(row.group(1)), row.group(2).equals("yes"));
    }
    Map<Integer, Boolean> actual = new LinkedHashMap<>();
    for (CloseReason reason : CloseReason.values()) {
      actual.put(reason.code(), reason.reconnect());
    }
    assertThat(documented).isEqualTo(actual);
  }

  @Test
  void theFiltersSelectWhatTheTableSays() {
    Matcher row =
        Pattern.compile("(?m)^\\| `([^`]+)` \\| (`.*|everything[^|]*) \\| (`[^|]*) \\|$")
            .matcher(section("Topics and filters"));
    int rows = 0;
    while (row.find()) {
      TopicFilter filter = TopicFilter.parse(row.group(1));
      names(row.group(2)).forEach(t -> assertThat(filter.matches(t)).as(filter + " " + t).isTrue());
      names(row.group(3))
          .forEach(t -> assertThat(filter.matches(t)).as(filter + " " + t).isFalse());
      rows++;
    }
    assertThat(rows).isEqualTo(5);
  }

  private static List<String> names(String cell) {
    return Pattern.compile("`([^`]+)`").matcher(cell).results().map(m -> m.group(1)).toList();
  }

  private static String section(String heading) {
    Matcher section = Pattern.compile("(?ms)^## " + heading + "\n(.*?)(?=^## |\\z)").matcher(TEXT);
    assertThat(section.find()).as("section " + heading).isTrue();
    return section.group(1);
  }

  private static String example(TypeCode type) {
    String heading = String.format("### %03d ", type.code());
    int start = TEXT.indexOf(heading);
    assertThat(start).as("an example of " + type).isNotNegative();
    int end = TEXT.indexOf("\n#", start + 1);
    return TEXT.substring(start, end < 0 ? TEXT.length() : end);
  }

  private static String block(String section, String language) {
    Matcher block = Pattern.compile("(?s)```" + language + "\n(.*?)```").matcher(section);
    assertThat(block.find()).as("a block of " + language).isTrue();
    return block.group(1);
  }

  /** The bytes of a listing; text that is shown beside a line must be the bytes of that line. */
  private static byte[] bytes(String listing) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (String line : listing.lines().toList()) {
      String[] parts = line.split(";", 2);
      assertThat(parts).as("bytes, a semicolon and a note: " + line).hasSize(2);
      byte[] part = HexFormat.ofDelimiter(" ").parseHex(parts[0].strip());
      String note = parts[1].strip();
      if (note.startsWith("\"")) {
        String shown = note.substring(1, note.length() - 1).replace("\\\"", "\"");
        assertThat(new String(part, StandardCharsets.UTF_8)).isEqualTo(shown);
      }
      bytes.writeBytes(part);
    }
    return bytes.toByteArray();
  }

  private static SpecificRecord recordOf(TypeCode type, String json) throws IOException {
    Schema schema = Bodies.schemaOf(type);
    GenericRecord record =
        new GenericDatumReader<GenericRecord>(schema)
            .read(null, DecoderFactory.get().jsonDecoder(schema, json));
    return Bodies.avro(schema, Bodies.avro(record));
  }
}
