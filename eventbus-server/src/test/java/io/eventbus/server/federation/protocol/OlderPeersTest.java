package io.eventbus.server.federation.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.FrameCursor;
import io.eventbus.server.federation.schema.AccountEntry;
import io.eventbus.server.federation.schema.Interest;
import io.eventbus.server.federation.schema.InterestEntry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.junit.jupiter.api.Test;

/** Frames as read by a bus that does not know accounts: its schemas are here as they were. */
class OlderPeersTest {
  private static final Schema FORWARD =
      new Schema.Parser()
          .parse(
              """
              {"type":"record","name":"Forward","fields":[
                {"name":"hops","type":"int"},
                {"name":"plain","type":"boolean"},
                {"name":"groups","type":{"type":"array","items":"string"}},
                {"name":"targets","type":{"type":"array","items":"int"}},
                {"name":"picks","type":{"type":"array","items":
                  {"type":"record","name":"Pick","fields":[
                    {"name":"bus","type":"int"},{"name":"group","type":"string"}]}}},
                {"name":"deliver","type":"bytes"}]}\
              """);

  private static final Schema INTEREST =
      new Schema.Parser()
          .parse(
              """
              {"type":"record","name":"Interest","fields":[
                {"name":"version","type":"long"},
                {"name":"whole","type":"boolean"},
                {"name":"more","type":"boolean"},
                {"name":"digest","type":"long"},
                {"name":"entries","type":{"type":"array","items":
                  {"type":"record","name":"InterestEntry","fields":[
                    {"name":"filter","type":"string"},
                    {"name":"group","type":["null","string"]},
                    {"name":"overflow","type":"int"}]}}}]}\
              """);

  /** Reads the body of a frame; bytes behind the last field are skipped with the frame. */
  private static GenericRecord read(Schema schema, byte[] frame) throws IOException {
    FrameCursor cursor = new FrameCursor().wrap(ByteBuffer.wrap(frame), 0, frame.length);
    assertThat(cursor.next()).isTrue();
    return new GenericDatumReader<GenericRecord>(schema)
        .read(
            null,
            DecoderFactory.get()
                .binaryDecoder(
                    frame, cursor.bodyStart(), cursor.bodyEnd() - cursor.bodyStart(), null));
  }

  @Test
  void eventsOfAnAccountAreForNobody() throws IOException {
    byte[] deliver = {8, 4, 1, 2};
    byte[] head = PeerFrames.accountForwardHead(3);
    byte[] tail =
        PeerFrames.accountForwardTail(
            "acme", true, List.of("g"), new int[] {7}, new int[] {7}, List.of("h"));
    ByteBuffer frame = ByteBuffer.allocate(256);
    PeerFrames.writeForwardHead(frame, head, deliver.length, tail.length);
    frame.put(deliver).put(tail);
    byte[] written = new byte[frame.flip().remaining()];
    frame.get(written);
    GenericRecord read = read(FORWARD, written);
    assertThat(read.get("hops")).isEqualTo(3);
    assertThat(read.get("plain")).isEqualTo(false);
    assertThat(read.get("groups")).isEqualTo(List.of());
    assertThat(read.get("targets")).as("it is passed on to none").isEqualTo(List.of());
    assertThat(read.get("picks")).isEqualTo(List.of());
    assertThat(read.get("deliver")).isEqualTo(ByteBuffer.wrap(deliver));
  }

  @Test
  void subscriptionsOfAnAccountAreNotHeardOf() throws IOException {
    Interest told =
        new Interest(
            9L,
            true,
            false,
            -77L,
            List.of(new InterestEntry("a.>", null, 0)),
            List.of(new AccountEntry("acme", "secret", "g", 0)),
            5L);
    GenericRecord read = read(INTEREST, PeerFrames.encode(PeerFrames.INTEREST, told));
    assertThat(read.get("version")).isEqualTo(9L);
    assertThat(read.get("digest")).isEqualTo(-77L);
    assertThat(read.get("entries").toString()).contains("a.>").doesNotContain("secret");
  }
}
