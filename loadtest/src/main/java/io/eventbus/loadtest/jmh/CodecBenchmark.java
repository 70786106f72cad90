package io.eventbus.loadtest.jmh;

import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.PublishView;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
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

/**
 * The codec on its way through: write in the SDK, check and forward in the bus, read in the SDK.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class CodecBenchmark {
  private static final long PRODUCER = 0x1234_5678_9ABC_DEFL;
  private static final long[] NO_GROUPS = {};

  /** Events in one frame. */
  @Param({"1", "10", "100", "500"})
  public int batch;

  /** Bytes of each payload. */
  @Param({"16", "128", "1024"})
  public int payloadBytes;

  private final byte[] topic = PublishFrameSamples.topic("flights.zrh.departed");
  private final PublishView publishView = new PublishView();
  private final DeliverView deliverView = new DeliverView();
  private final FrameCursor frames = new FrameCursor();
  private byte[] payload = new byte[0];
  private ByteBuffer publish = ByteBuffer.allocate(0);
  private ByteBuffer deliver = ByteBuffer.allocate(0);
  private ByteBuffer block = ByteBuffer.allocate(0);
  private ByteBuffer out = ByteBuffer.allocate(0);

  /** Makes the frames. */
  @Setup
  public void prepare() {
    payload = PublishFrameSamples.payload(payloadBytes);
    publish = PublishFrameSamples.of(topic, 1_000_000, batch, payload);
    PublishFrameSamples.read(publish, publishView);
    out = ByteBuffer.allocateDirect(publish.limit() + 1024);
    deliver = ByteBuffer.allocateDirect(publish.limit() + 1024);
    block = ByteBuffer.allocateDirect(publish.limit());
    writeDeliver(deliver);
    deliver.flip();
  }

  private void writeDeliver(ByteBuffer to) {
    Frames.writeDeliver(
        to, publish, publishView, PRODUCER, PublishFrameSamples.PUBLISHED_AT, -1, NO_GROUPS, 0);
  }

  /**
   * Does a publisher's part: writes the events and the frame around them.
   *
   * @return bytes written
   */
  @Benchmark
  public int writePublish() {
    block.clear();
    int size = 0;
    for (int i = 0; i < batch; i++) {
      size +=
          Frames.eventSize(
              PublishFrameSamples.PUBLISHED_AT, -1, EncodedHeaders.NONE.size(), payload.length);
      Frames.writeEvent(
          block, PublishFrameSamples.PUBLISHED_AT, null, EncodedHeaders.NONE, payload);
    }
    block.flip();
    out.clear();
    int total = Frames.publishSize(topic.length, 1_000_000, 0, batch, size);
    Frames.writePublish(out, topic, 1_000_000, 0, false, batch, block);
    return total + out.position();
  }

  /** Does the first part of a bus: finds the frame and checks all of it. */
  @Benchmark
  public int publishRead() {
    frames.wrap(publish, 0, publish.limit());
    frames.next();
    publishView.read(publish, frames.bodyStart(), frames.bodyEnd(), FrameLimits.DEFAULT);
    return publishView.eventCount();
  }

  /**
   * Does the next part of a bus: a new head and the same events.
   *
   * @return bytes written
   */
  @Benchmark
  public int writeDeliver() {
    out.clear();
    int size =
        Frames.deliverSize(
            publishView, PRODUCER, PublishFrameSamples.PUBLISHED_AT, -1, NO_GROUPS, 0);
    writeDeliver(out);
    return size + out.position();
  }

  /**
   * Does a subscriber's part: finds the frame and every payload in it.
   *
   * @return bytes of payload
   */
  @Benchmark
  public int deliverRead() {
    frames.wrap(deliver, 0, deliver.limit());
    frames.next();
    deliverView.read(deliver, frames.bodyStart(), frames.bodyEnd(), FrameLimits.DEFAULT);
    EventCursor events = deliverView.events();
    int bytes = 0;
    while (events.next()) {
      bytes += events.payloadLength();
    }
    return bytes;
  }
}
