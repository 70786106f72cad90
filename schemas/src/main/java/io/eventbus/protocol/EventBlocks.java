package io.eventbus.protocol;

import java.nio.ByteBuffer;

/**
 * Brings an array of events into the one form that this protocol writes: a single block with a
 * negative count, its size in bytes, the events, and the end mark. The array must have been checked
 * before.
 */
final class EventBlocks {
  private EventBlocks() {}

  static int canonicalSize(ByteBuffer buf, int from, int to) {
    Sizes sizes = measure(buf, from, to);
    return blockSize(sizes.count, sizes.bytes);
  }

  static int blockSize(int count, int bytes) {
    return Varint.size(-(long) count) + Varint.size(bytes) + bytes + 1;
  }

  static void writeCanonical(ByteBuffer buf, int from, int to, ByteBuffer out) {
    Sizes sizes = measure(buf, from, to);
    Varint.write(out, -(long) sizes.count);
    Varint.write(out, sizes.bytes);
    EventCursor cursor = new EventCursor().wrap(buf, from, to, UNLIMITED);
    while (cursor.next()) {
      int length = cursor.eventEnd() - cursor.eventStart();
      out.put(out.position(), buf, cursor.eventStart(), length);
      out.position(out.position() + length);
    }
    out.put((byte) 0);
  }

  private static Sizes measure(ByteBuffer buf, int from, int to) {
    int count = 0;
    int bytes = 0;
    EventCursor cursor = new EventCursor().wrap(buf, from, to, UNLIMITED);
    while (cursor.next()) {
      count++;
      bytes += cursor.eventEnd() - cursor.eventStart();
    }
    return new Sizes(count, bytes);
  }

  // The limits were applied when the array was checked; here it is only walked.
  private static final FrameLimits UNLIMITED =
      new FrameLimits(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);

  private record Sizes(int count, int bytes) {}
}
