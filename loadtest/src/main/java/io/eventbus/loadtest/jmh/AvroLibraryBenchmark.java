package io.eventbus.loadtest.jmh;

import io.eventbus.schema.Deliver;
import io.eventbus.schema.Event;
import io.eventbus.schema.Publish;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificDatumWriter;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The same records through the Avro library, for comparison with {@link CodecBenchmark}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class AvroLibraryBenchmark {
  /** Events in one record. */
  @Param({"1", "10", "100", "500"})
  public int batch;

  /** Bytes of each payload. */
  @Param({"16", "128", "1024"})
  public int payloadBytes;

  private final SpecificDatumReader<Publish> reader = new SpecificDatumReader<>(Publish.class);
  private final SpecificDatumWriter<Deliver> writer = new SpecificDatumWriter<>(Deliver.class);
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private byte[] encoded = new byte[0];
  private Deliver deliver = new Deliver();
  private @Nullable BinaryDecoder decoder;
  private @Nullable BinaryEncoder encoder;

  /**
   * Makes the records.
   *
   * @throws IOException never
   */
  @Setup
  public void prepare() throws IOException {
    List<Event> events = new ArrayList<>();
    byte[] payload = PublishFrameSamples.payload(payloadBytes);
    for (int i = 0; i < batch; i++) {
      events.add(
          new Event(PublishFrameSamples.PUBLISHED_AT, null, Map.of(), ByteBuffer.wrap(payload)));
    }
    deliver =
        new Deliver(
            "flights.zrh.departed",
            1L,
            1_000_000L,
            0L,
            PublishFrameSamples.PUBLISHED_AT,
            -1L,
            events,
            List.of(),
            0L,
            0L);
    Publish publish =
        new Publish("flights.zrh.departed", 1_000_000L, 0L, false, events, 0L, 0L, 0L, null, 0L);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder once = EncoderFactory.get().binaryEncoder(bytes, null);
    new SpecificDatumWriter<>(Publish.class).write(publish, once);
    once.flush();
    encoded = bytes.toByteArray();
  }

  /**
   * Decodes a {@code Publish}: what a bus without a fast path does first.
   *
   * @throws IOException never
   */
  @Benchmark
  public Publish publishDecode() throws IOException {
    decoder = DecoderFactory.get().binaryDecoder(encoded, decoder);
    return reader.read(null, decoder);
  }

  /**
   * Encodes a {@code Deliver}: what it does next.
   *
   * @return bytes written
   * @throws IOException never
   */
  @Benchmark
  public int deliverEncode() throws IOException {
    out.reset();
    BinaryEncoder to = EncoderFactory.get().binaryEncoder(out, encoder);
    encoder = to;
    writer.write(deliver, to);
    to.flush();
    return out.size();
  }
}
