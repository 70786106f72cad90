package io.eventbus.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.schema.Ack;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;

class AvroCodecTest {
  private static final Schema VERSION_1 =
      SchemaBuilder.record("Flight").fields().requiredString("number").endRecord();
  private static final Schema VERSION_2 =
      SchemaBuilder.record("Flight")
          .fields()
          .requiredString("number")
          .name("gate")
          .type()
          .stringType()
          .stringDefault("none")
          .endRecord();

  private static GenericRecord flight(Schema schema) {
    GenericRecord flight = new GenericData.Record(schema);
    flight.put("number", "EB 1");
    return flight;
  }

  @Test
  void recordsComeBackAsTheyWere() {
    AvroCodec<Ack> codec = AvroCodec.of(Ack.class);
    Ack ack = new Ack("flights.osl", 7L, 42L);
    assertThat(codec.decode(codec.encode(ack), codec.fingerprint())).isEqualTo(ack);
    assertThat(codec.fingerprint())
        .isEqualTo(SchemaNormalization.parsingFingerprint64(Ack.getClassSchema()));
  }

  @Test
  void anOlderPayloadIsResolvedToTheReadersSchema() {
    AvroCodec<GenericRecord> old = AvroCodec.of(VERSION_1);
    AvroCodec<GenericRecord> reader = AvroCodec.of(VERSION_2).withWriters(VERSION_1);
    GenericRecord read = reader.decode(old.encode(flight(VERSION_1)), old.fingerprint());
    assertThat(read.get("number")).hasToString("EB 1");
    assertThat(read.get("gate")).hasToString("none");
  }

  @Test
  void aPayloadWithoutFingerprintIsReadWithTheReadersSchema() {
    AvroCodec<GenericRecord> codec = AvroCodec.of(VERSION_1);
    assertThat(codec.decode(codec.encode(flight(VERSION_1)), 0)).isEqualTo(flight(VERSION_1));
  }

  @Test
  void anUnknownSchemaIsAnError() {
    AvroCodec<GenericRecord> codec = AvroCodec.of(VERSION_2);
    assertThatExceptionOfType(EventBusException.UnreadablePayload.class)
        .isThrownBy(() -> codec.decode(new byte[1], 0xABCL))
        .withMessageContaining("written with the schema 0000000000000abc")
        .withMessageContaining("Flight (" + String.format("%016x", codec.fingerprint()) + ")")
        .withMessageContaining("AvroCodec.withWriters")
        .matches(e -> !e.retryable());
  }

  @Test
  void brokenAndOverlongPayloadsAreErrors() {
    AvroCodec<GenericRecord> codec = AvroCodec.of(VERSION_1);
    byte[] good = codec.encode(flight(VERSION_1));
    assertThatExceptionOfType(EventBusException.UnreadablePayload.class)
        .isThrownBy(() -> codec.decode(new byte[] {20, 'x'}, 0));
    assertThatExceptionOfType(EventBusException.UnreadablePayload.class)
        .isThrownBy(() -> codec.decode(java.util.Arrays.copyOf(good, good.length + 1), 0));
  }

  @Test
  void aRecordThatIsNotCompleteIsAnError() {
    AvroCodec<GenericRecord> codec = AvroCodec.of(VERSION_1);
    assertThatExceptionOfType(EventBusException.UnreadablePayload.class)
        .isThrownBy(() -> codec.encode(new GenericData.Record(VERSION_1)));
  }
}
