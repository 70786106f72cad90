package io.eventbus.journal.codec;

import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;

/**
 * Events of one record, where they lie: the items of an array of Avro, without its marks. Valid
 * until the buffer changes.
 *
 * @param buffer holds the events; its position means nothing
 * @param from the index of the first one
 * @param to the index after the last one
 * @param count how many they are, 1 or more
 * @param maxEventBytes the size of the largest one
 */
public record EventBlock(ByteBuffer buffer, int from, int to, int count, int maxEventBytes) {

  /** Returns the size of the events, in bytes. */
  public int bytes() {
    return to - from;
  }

  /** Returns the block without its first events, of which there are fewer. */
  public EventBlock without(int events) {
    EventCursor cursor = new EventCursor();
    int at = from;
    for (int i = 0; i < events; i++) {
      cursor.wrapOne(buffer, at, to, FrameLimits.UNLIMITED, from);
      at = cursor.eventEnd();
    }
    return new EventBlock(buffer, at, to, count - events, maxEventBytes);
  }

  /** Writes the block as the array of a {@code Publish} frame. */
  public void write(ByteBuffer out) {
    Varint.write(out, -(long) count);
    Varint.write(out, bytes());
    out.put(out.position(), buffer, from, bytes());
    out.position(out.position() + bytes());
    out.put((byte) 0);
  }

  /** Returns how many bytes {@link #write} takes. */
  public int size() {
    return Varint.size(-(long) count) + Varint.size(bytes()) + bytes() + 1;
  }

  /**
   * Reads a block as {@link #write} and {@link io.eventbus.protocol.PublishView#writeEvents} write
   * it, after checking every event.
   *
   * @param in stands at its first byte, and then behind it
   * @param start the index from which errors count bytes
   * @throws io.eventbus.protocol.MalformedFrameException if it is anything else
   */
  public static EventBlock read(
      String field, BodyReader in, EventCursor cursor, ByteBuffer buffer, int start) {
    int at = in.position();
    long count = in.readBlockCount(field, 4);
    int end = in.blockEnd();
    if (count < 1 || end < 0) {
      throw in.malformed(field, at, count + " events", "one block of known size");
    }
    if (count > FrameLimits.MAX_PUBLISHED_EVENTS) {
      throw in.tooBig(field + " count", at, count, FrameLimits.MAX_PUBLISHED_EVENTS);
    }
    int from = in.position();
    int next = from;
    int max = 0;
    cursor.wrap(buffer, from, end, FrameLimits.UNLIMITED, start);
    for (int i = 0; i < count; i++) {
      cursor.moveTo(i, next);
      next = cursor.eventEnd();
      max = Math.max(max, next - cursor.eventStart());
    }
    in.position(next);
    in.checkBlockEnd(field, end);
    if (in.readLong(field) != 0) {
      throw in.malformed(field, end, "a second block", "the end of the array");
    }
    return new EventBlock(buffer, from, end, (int) count, max);
  }
}
