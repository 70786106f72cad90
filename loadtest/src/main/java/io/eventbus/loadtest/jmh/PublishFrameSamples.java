package io.eventbus.loadtest.jmh;

import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.PublishView;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;

/** A {@code Publish} frame as the SDK writes it, for benchmarks to read. */
final class PublishFrameSamples {
  static final long PUBLISHED_AT = 1_790_000_000_000_000L;

  private PublishFrameSamples() {}

  static byte[] topic(String name) {
    return name.getBytes(StandardCharsets.UTF_8);
  }

  static byte[] payload(int bytes) {
    byte[] payload = new byte[bytes];
    new Random(bytes).nextBytes(payload);
    return payload;
  }

  /** Writes one frame with copies of a payload. */
  static ByteBuffer of(byte[] topic, long sequence, int events, byte[] payload) {
    int eventSize = Frames.eventSize(PUBLISHED_AT, -1, EncodedHeaders.NONE.size(), payload.length);
    ByteBuffer block = ByteBuffer.allocate(eventSize * events);
    for (int i = 0; i < events; i++) {
      Frames.writeEvent(block, PUBLISHED_AT, null, EncodedHeaders.NONE, payload);
    }
    block.flip();
    ByteBuffer frame =
        ByteBuffer.allocateDirect(
            Frames.publishSize(topic.length, sequence, 0, events, block.limit()));
    Frames.writePublish(frame, topic, sequence, 0, false, events, block);
    return frame.flip();
  }

  /** Finds and reads the frame again, so that the view stands on it. */
  static PublishView read(ByteBuffer frame, PublishView view) {
    FrameCursor cursor = new FrameCursor().wrap(frame, 0, frame.limit());
    if (!cursor.next()) {
      throw new IllegalStateException("no frame in " + frame);
    }
    view.read(frame, cursor.bodyStart(), cursor.bodyEnd(), FrameLimits.DEFAULT);
    return view;
  }
}
