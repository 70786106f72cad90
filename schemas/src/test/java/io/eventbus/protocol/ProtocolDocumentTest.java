package io.eventbus.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
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

/** Examples of the protocol's document, against the code. */
class ProtocolDocumentTest {
  @ParameterizedTest
  @EnumSource(TypeCode.class)
  void theExampleIsTheFrame(TypeCode type) throws IOException {
    String section = ProtocolDocument.example(type);
    SpecificRecord expected = recordOf(type, ProtocolDocument.block(section, "json"));
    byte[] frame = ProtocolDocument.frame(type);

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
    assertThat(ProtocolDocument.block(section, "hex"))
        .contains("; Frame.typeCode: " + type.code() + "\n")
        .contains("; Frame.body: " + body.length + " bytes\n");
    if (type != TypeCode.PUBLISH && type != TypeCode.DELIVER) {
      assertThat(ControlFrames.encode(type, expected)).isEqualTo(frame);
    }
  }

  @Test
  void theEventsOfTheExamplesAreInTheFormThatABusPassesOn() {
    byte[] body = Bodies.bodyOf(TypeCode.PUBLISH, ProtocolDocument.frame(TypeCode.PUBLISH));
    PublishView view = new PublishView();
    view.read(ByteBuffer.wrap(body), 0, body.length, FrameLimits.DEFAULT);
    byte[] deliver = ProtocolDocument.frame(TypeCode.DELIVER);
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

    // A bus leaves the last two fields out, because the topic is not durable.
    byte[] written = Bodies.bodyOf(TypeCode.DELIVER, out.array());
    assertThat(Arrays.copyOf(written, written.length + 2)).isEqualTo(deliverBody);
  }

  @Test
  void theFrameInTheFeedIsADeliver() {
    byte[] body = Bodies.bodyOf(TypeCode.FEED, ProtocolDocument.frame(TypeCode.FEED));
    ByteBuffer buffer = ByteBuffer.wrap(body);
    FeedView feed = new FeedView();
    feed.read(buffer, 0, body.length);
    FrameCursor frames = new FrameCursor().wrap(buffer, feed.framesStart(), feed.framesEnd());
    assertThat(frames.next()).isTrue();
    assertThat(frames.typeCode()).isEqualTo(TypeCode.DELIVER.code());
    DeliverView delivered = new DeliverView();
    delivered.read(buffer, frames.bodyStart(), frames.bodyEnd(), FrameLimits.DEFAULT);
    assertThat(delivered.offset()).isBetween(feed.from(), feed.to());
    assertThat(delivered.originSequence()).isEqualTo(5);
    assertThat(frames.next()).isFalse();
  }

  @Test
  void theConfirmIsThatOfThePublish() {
    byte[] body = Bodies.bodyOf(TypeCode.PUBLISH, ProtocolDocument.frame(TypeCode.PUBLISH));
    PublishView view = new PublishView();
    view.read(ByteBuffer.wrap(body), 0, body.length, FrameLimits.DEFAULT);
    ByteBuffer out = ByteBuffer.allocate(Frames.confirmSize(view, 3));

    Frames.writeConfirm(out, ByteBuffer.wrap(body), view, 3);

    assertThat(out.array()).isEqualTo(ProtocolDocument.frame(TypeCode.CONFIRM));
  }

  @Test
  void theRecordsAreTheSchema() {
    String schema =
        ProtocolDocument.read(Path.of("schemas", "src", "main", "avro", "eventbus.avdl")).strip();
    String frame = schema.substring(schema.indexOf("  record Frame {"));

    assertThat(ProtocolDocument.blocks(ProtocolDocument.section("Records"), "avdl"))
        .as("the records, once")
        .containsExactly(schema + "\n");
    assertThat(ProtocolDocument.blocks(ProtocolDocument.TEXT, "avdl"))
        .as("the frame, then all records, and no other listing")
        .containsExactly(
            frame.substring(0, frame.indexOf("}") + 2).replaceAll("(?m)^  ", ""), schema + "\n");
  }

  @Test
  void theFramesAreAllThere() {
    String frames = ProtocolDocument.section("Frame types");
    for (TypeCode type : TypeCode.values()) {
      String name = FrameSchemas.of(type).getName();
      assertThat(frames).contains(String.format("\n| %03d | `%s` | ", type.code(), name));
    }
  }

  @Test
  void theLimitsThatNobodyCanConfigureAreThere() {
    assertThat(ProtocolDocument.section("Limits"))
        .contains(
            String.format(
                Locale.ROOT,
                "| WebSocket frames of one message | %,d |",
                FrameLimits.MAX_FRAGMENTS))
        .contains(String.format(Locale.ROOT, "| | at most %,d |", FrameLimits.MAX_PUBLISHED_EVENTS))
        .contains("| key of an event | " + FrameLimits.MAX_KEY_BYTES + " bytes |")
        .contains("| topic, filter, group | " + Topic.MAX_BYTES + " bytes |")
        .contains("| topic, filter | " + Topic.MAX_TOKENS + " tokens |");
  }

  @Test
  void theErrorsAreAllThere() {
    Map<Integer, String> documented = new LinkedHashMap<>();
    Matcher row =
        Pattern.compile("(?m)^\\| (\\d+) \\| `([A-Z_]+)` \\|")
            .matcher(ProtocolDocument.section("Errors"));
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
            .matcher(ProtocolDocument.section("Close codes"));
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
            .matcher(ProtocolDocument.section("Topics and filters"));
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

  private static SpecificRecord recordOf(TypeCode type, String json) throws IOException {
    Schema schema = FrameSchemas.of(type);
    GenericRecord record =
        new GenericDatumReader<GenericRecord>(schema)
            .read(null, DecoderFactory.get().jsonDecoder(schema, json));
    return Bodies.avro(schema, Bodies.avro(record));
  }
}
