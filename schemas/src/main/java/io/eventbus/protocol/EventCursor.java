package io.eventbus.protocol;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Cursor over an {@code array<Event>} in any legal block structure, which checks every event on the
 * way.
 *
 * <p>For one thread; reused by {@link #wrap}, so that walking allocates nothing. Only {@link #key},
 * {@link #headers} and {@link #payload} create objects.
 */
public final class EventCursor {
  private final BodyReader in = new BodyReader();
  private ByteBuffer buf = ByteBuffer.allocate(0);
  private FrameLimits limits = FrameLimits.DEFAULT;

  private long leftInBlock;
  private int blockEnd;
  private boolean finished;
  private int blocks;
  private boolean lastBlockSized;
  private int lastItemsStart;
  private int itemBytes;

  private int index;
  private int eventStart;
  private int eventEnd;
  private long publishedAt;
  private int keyStart;
  private int keyLength;
  private int headersStart;
  private int headerCount;
  private int payloadStart;
  private int payloadLength;

  /** Creates an empty cursor. */
  public EventCursor() {}

  /**
   * Starts before the first event.
   *
   * @param buffer holds the array
   * @param from the index of the array's first block
   * @param to the index after the last byte that may belong to the array
   * @param frameLimits the limits
   * @return this cursor
   */
  public EventCursor wrap(ByteBuffer buffer, int from, int to, FrameLimits frameLimits) {
    return wrap(buffer, from, to, frameLimits, from);
  }

  /**
   * Starts in a body that starts before the array, so that errors state positions in that.
   *
   * @param buffer holds the array
   * @param from the index of the array's first block, or of an event to {@link #moveTo}
   * @param to the index after the last byte that may belong to the array
   * @param frameLimits the limits
   * @param bodyStart the start of the body
   * @return this cursor
   */
  public EventCursor wrap(
      ByteBuffer buffer, int from, int to, FrameLimits frameLimits, int bodyStart) {
    in.wrap(buffer, from, to, bodyStart);
    buf = buffer;
    limits = frameLimits;
    leftInBlock = 0;
    blockEnd = -1;
    finished = false;
    blocks = 0;
    lastBlockSized = false;
    lastItemsStart = from;
    itemBytes = 0;
    index = -1;
    return this;
  }

  /**
   * Moves to the only event that starts at an index, after checking it whole.
   *
   * @param buffer holds the event
   * @param from the index of its first byte
   * @param to the index that it must not pass
   * @param frameLimits the limits that it is checked against
   * @param bodyStart the start of the body: errors state the distance from there
   * @throws MalformedFrameException if the event is malformed or exceeds a limit
   */
  public void wrapOne(ByteBuffer buffer, int from, int to, FrameLimits frameLimits, int bodyStart) {
    wrap(buffer, from, to, frameLimits, bodyStart);
    moveTo(0, from);
  }

  /**
   * Moves to the next event and checks it whole.
   *
   * @return false after the last event; {@link #arrayEnd} is then set
   * @throws MalformedFrameException if the block structure or the event is broken or exceeds a
   *     limit
   */
  public boolean next() {
    if (leftInBlock == 0) {
      if (finished) {
        return false;
      }
      if (blocks > 0) {
        in.checkBlockEnd("events", blockEnd);
      }
      // publishedAt, key, headers and payload take at least a byte each.
      leftInBlock = in.readBlockCount("events", 4);
      if (leftInBlock == 0) {
        finished = true;
        return false;
      }
      blockEnd = in.blockEnd();
      lastBlockSized = blockEnd >= 0;
      lastItemsStart = in.position();
      blocks++;
    }
    leftInBlock--;
    index++;
    readEvent();
    return true;
  }

  /**
   * Moves to an event that an earlier walk has found, whose {@link #index} and {@link #eventStart}
   * it returned; {@link #next} goes on from the end of the walk, not from here.
   *
   * @param number the event's number
   * @param start the index of its first byte
   * @throws MalformedFrameException if no event starts there
   */
  public void moveTo(int number, int start) {
    in.position(start);
    index = number;
    readEvent();
  }

  private void readEvent() {
    eventStart = in.position();
    publishedAt = in.readLong("Event.publishedAt");
    keyLength = -1;
    if (in.readPresent("Event.key")) {
      keyLength = in.skipString("Event.key", FrameLimits.MAX_KEY_BYTES);
      keyStart = in.position() - keyLength;
    }
    headersStart = in.position();
    headerCount = skipHeaders();
    payloadLength = in.readLength("Event.payload", limits.payloadBytes());
    payloadStart = in.position();
    eventEnd = payloadStart + payloadLength;
    itemBytes += eventEnd - eventStart;
    in.position(eventEnd);
  }

  private int skipHeaders() {
    int count = 0;
    int bytes = 0;
    for (long n = in.readBlockCount("Event.headers", 2);
        n > 0;
        n = in.readBlockCount("Event.headers", 2)) {
      int mapBlockEnd = in.blockEnd();
      if (count + n > limits.headers()) {
        throw in.tooBig("Event.headers count", headersStart, count + n, limits.headers());
      }
      for (long i = 0; i < n; i++) {
        bytes += in.skipString("Event.headers name", limits.headerBytes() - bytes);
        bytes += in.skipString("Event.headers value", limits.headerBytes() - bytes);
      }
      count += (int) n;
      in.checkBlockEnd("Event.headers", mapBlockEnd);
    }
    return count;
  }

  /**
   * Returns the number of the current event.
   *
   * @return 0 for the first
   */
  public int index() {
    return index;
  }

  /**
   * Returns the time when the event was published.
   *
   * @return microseconds since the epoch, by the publisher's clock
   */
  public long publishedAt() {
    return publishedAt;
  }

  /**
   * Returns the event's key.
   *
   * @return the key, or null for none
   */
  public @Nullable String key() {
    return keyLength < 0 ? null : Utf8.decode(buf, keyStart, keyStart + keyLength);
  }

  /**
   * Returns the start of the event's key.
   *
   * @return an index into the wrapped buffer; of no meaning without a key
   */
  public int keyStart() {
    return keyStart;
  }

  /**
   * Returns the length of the event's key.
   *
   * @return bytes of UTF-8, or -1 without a key
   */
  public int keyLength() {
    return keyLength;
  }

  /**
   * Returns the event's headers, in the order of the wire; of duplicate names the last counts.
   *
   * @return a new map that belongs to the caller, or an immutable empty one
   */
  public Map<String, String> headers() {
    if (headerCount == 0) {
      return Map.of();
    }
    Map<String, String> headers = new LinkedHashMap<>();
    int mark = in.position();
    in.position(headersStart);
    for (long n = in.readBlockCount("Event.headers", 2);
        n > 0;
        n = in.readBlockCount("Event.headers", 2)) {
      for (long i = 0; i < n; i++) {
        String name = in.readString("Event.headers name", limits.headerBytes());
        headers.put(name, in.readString("Event.headers value", limits.headerBytes()));
      }
    }
    in.position(mark);
    return headers;
  }

  /**
   * Returns the number of headers.
   *
   * @return 0 or more
   */
  public int headerCount() {
    return headerCount;
  }

  /**
   * Returns the payload.
   *
   * @return a new array that belongs to the caller
   */
  public byte[] payload() {
    byte[] bytes = new byte[payloadLength];
    buf.get(payloadStart, bytes);
    return bytes;
  }

  /**
   * Returns the start of the payload.
   *
   * @return an index into the wrapped buffer
   */
  public int payloadStart() {
    return payloadStart;
  }

  /**
   * Returns the length of the payload.
   *
   * @return bytes
   */
  public int payloadLength() {
    return payloadLength;
  }

  /**
   * Returns the start of the current event.
   *
   * @return an index into the wrapped buffer
   */
  public int eventStart() {
    return eventStart;
  }

  /**
   * Returns the end of the current event.
   *
   * @return the index after its last byte
   */
  public int eventEnd() {
    return eventEnd;
  }

  /**
   * Returns the end of the array, once {@link #next} has returned false.
   *
   * @return the index after the array's last byte
   */
  public int arrayEnd() {
    return in.position();
  }

  /** Returns the bytes of the events that were walked over, without the bytes between them. */
  int itemBytes() {
    return itemBytes;
  }

  /** Returns the start of the first event of the last block that held any. */
  int lastItemsStart() {
    return lastItemsStart;
  }

  /**
   * Returns whether all events that were walked over lie in one block, and so next to each other.
   */
  boolean isOneBlock() {
    return blocks <= 1;
  }

  /**
   * Returns whether the array that was walked has the one form that this protocol writes: a single
   * block with its size.
   *
   * @return true for one block with a negative count, or for an empty array
   */
  boolean isCanonical() {
    return blocks == 0 || (blocks == 1 && lastBlockSized);
  }
}
