package io.eventbus.protocol;

import java.nio.ByteBuffer;

/**
 * A {@code Publish} in place: where its parts are, and that every one of them is well formed.
 *
 * <p>For one thread; reused, so that reading allocates nothing. Valid until the buffer changes.
 */
public final class PublishView {
  private final BodyReader in = new BodyReader();
  private final EventCursor events = new EventCursor();
  private ByteBuffer buf = ByteBuffer.allocate(0);
  private int topicStart;
  private int topicLength;
  private long sequence;
  private long schema;
  private boolean confirm;
  private int eventsStart;
  private int eventsEnd;
  private int eventCount;

  /** Makes a view of nothing. */
  public PublishView() {}

  /**
   * Reads and checks a whole body, every event included.
   *
   * @param buffer holds the body of the frame
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @param limits what to accept
   * @throws MalformedFrameException if anything is malformed ({@link
   *     MalformedFrameException#isTooBig} tells which kind); the head may have been read, see
   *     {@link #sequence}
   */
  public void read(ByteBuffer buffer, int from, int to, FrameLimits limits) {
    sequence = 0;
    topicLength = 0;
    buf = buffer;
    in.wrap(buffer, from, to);
    topicLength = in.skipString("Publish.topic", Topic.MAX_BYTES);
    topicStart = in.position() - topicLength;
    int sequenceAt = in.position();
    sequence = in.readLong("Publish.sequence");
    schema = in.readLong("Publish.schema");
    confirm = in.readBoolean("Publish.confirm");
    eventsStart = in.position();
    events.wrap(buffer, eventsStart, to, limits);
    int count = 0;
    while (events.next()) {
      count++;
    }
    eventCount = count;
    eventsEnd = events.arrayEnd();
    if (count == 0) {
      throw MalformedFrameException.malformed(
          "Publish.events", eventsStart, "no event", "at least one");
    }
    if (sequence < 1 || sequence > Long.MAX_VALUE - count) {
      throw MalformedFrameException.malformed(
          "Publish.sequence", sequenceAt, sequence, "1.." + (Long.MAX_VALUE - count));
    }
  }

  /**
   * Returns where the topic's bytes start.
   *
   * @return an index into the buffer
   */
  public int topicStart() {
    return topicStart;
  }

  /**
   * Returns the length of the topic.
   *
   * @return bytes of UTF-8, at most {@link Topic#MAX_BYTES}; 0 if it was not read
   */
  public int topicLength() {
    return topicLength;
  }

  /**
   * Returns the topic, which is valid UTF-8 but may be illegal as a topic.
   *
   * @return a new string
   */
  public String topic() {
    return Utf8.decode(buf, topicStart, topicStart + topicLength);
  }

  /**
   * Returns the sequence number of the first event.
   *
   * @return 1 or more; 0 if it was not read
   */
  public long sequence() {
    return sequence;
  }

  /**
   * Returns the fingerprint of the payload's schema.
   *
   * @return CRC-64-AVRO, or 0 for none
   */
  public long schema() {
    return schema;
  }

  /**
   * Says whether the publisher wants a {@code Confirm}.
   *
   * @return true if it does
   */
  public boolean confirm() {
    return confirm;
  }

  /**
   * Returns the number of events.
   *
   * @return 1 or more
   */
  public int eventCount() {
    return eventCount;
  }

  /**
   * Returns the size of the events as one block: what {@link #writeEvents} writes.
   *
   * @return bytes
   */
  public int eventsSize() {
    return events.isCanonical()
        ? eventsEnd - eventsStart
        : EventBlocks.canonicalSize(buf, eventsStart, eventsEnd);
  }

  /**
   * Writes the events as one block with its size: the bytes that came in where they have this form
   * already, else rewritten.
   *
   * @param out takes {@link #eventsSize} bytes at its position
   */
  public void writeEvents(ByteBuffer out) {
    if (events.isCanonical()) {
      int length = eventsEnd - eventsStart;
      out.put(out.position(), buf, eventsStart, length);
      out.position(out.position() + length);
    } else {
      EventBlocks.writeCanonical(buf, eventsStart, eventsEnd, out);
    }
  }
}
