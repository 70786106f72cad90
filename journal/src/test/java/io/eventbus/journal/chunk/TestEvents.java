package io.eventbus.journal.chunk;

import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.Frames;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Events for tests, as they lie in a frame. */
public final class TestEvents {
  private TestEvents() {}

  /** Returns the bytes of events with these payloads, one after the other. */
  public static ByteBuffer of(byte[]... payloads) {
    int bytes = 0;
    for (byte[] payload : payloads) {
      bytes += Frames.eventSize(7, -1, 1, payload.length);
    }
    ByteBuffer out = ByteBuffer.allocate(bytes);
    for (byte[] payload : payloads) {
      Frames.writeEvent(out, 7, null, EncodedHeaders.NONE, payload);
    }
    return out.flip();
  }

  /** Returns the bytes of events that are recognized by their first number. */
  public static ByteBuffer numbered(long first, int count, int payloadBytes) {
    byte[][] payloads = new byte[count][];
    for (int i = 0; i < count; i++) {
      payloads[i] = Arrays.copyOf(text(first + i), payloadBytes);
    }
    return of(payloads);
  }

  /** Returns the numbers of events that {@link #numbered} wrote. */
  public static List<Long> numbers(EventCursor cursor) {
    List<Long> numbers = new ArrayList<>();
    while (cursor.next()) {
      String text = new String(cursor.payload(), StandardCharsets.UTF_8);
      numbers.add(Long.valueOf(text.replace("\0", "").replace("#", "")));
    }
    return numbers;
  }

  private static byte[] text(long number) {
    return ("#" + number).getBytes(StandardCharsets.UTF_8);
  }

  /** Returns a head of events with plain values for what a test does not look at. */
  public static FrameHead head(long topic, long sequence) {
    byte[] name = ("topic." + topic).getBytes(StandardCharsets.UTF_8);
    return new FrameHead(topic, name, sequence, 0, 1_000, 99, sequence + 500, 0);
  }
}
