package io.eventbus.protocol;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * View of a {@code Publish} in place: the positions of its parts, each of which is well formed.
 *
 * <p>For one thread; reused, so that reading allocates nothing. Valid until the buffer changes.
 */
public final class PublishView {
  private static final String ELLIPSIS = "\u2026";
  private static final int ELLIPSIS_BYTES = 3;

  private final BodyReader in = new BodyReader();
  private final EventCursor events = new EventCursor();
  // A second cursor, so that writing does not disturb what is known about the first walk.
  private final EventCursor rewalk = new EventCursor();
  private ByteBuffer buf = ByteBuffer.allocate(0);
  private FrameLimits limits = FrameLimits.DEFAULT;
  private int topicStart;
  private int topicLength;
  private long sequence;
  private long schema;
  private boolean confirm;
  private int eventsStart;
  private int eventsEnd;
  private int eventCount;
  private int eventBytes;
  private long expect;
  private long delayMillis;
  private long ttlMillis;
  private int nameStart;
  // Negative if there is none.
  private int nameLength;
  private long number;

  /** Creates an empty view. */
  public PublishView() {}

  /**
   * Reads and checks a whole body, every event included.
   *
   * @param buffer holds the body of the frame
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @param frameLimits the limits
   * @throws MalformedFrameException if anything is malformed ({@link
   *     MalformedFrameException#isTooBig} tells which kind); if something exceeds a limit, {@link
   *     #sequence} and {@link #shownTopic} are set
   */
  public void read(ByteBuffer buffer, int from, int to, FrameLimits frameLimits) {
    topicStart = from;
    topicLength = 0;
    sequence = 0;
    schema = 0;
    confirm = false;
    eventCount = 0;
    eventBytes = 0;
    expect = 0;
    delayMillis = 0;
    ttlMillis = 0;
    nameLength = -1;
    number = 0;
    buf = buffer;
    int bodyStart = from;
    limits = frameLimits;
    in.wrap(buffer, from, to);
    try {
      topicLength = in.skipString("Publish.topic", Topic.MAX_BYTES);
    } catch (MalformedFrameException e) {
      if (e.isTooBig()) {
        readLongTopic(from, to);
      }
      throw e;
    }
    topicStart = in.position() - topicLength;
    int sequenceAt = in.position();
    sequence = in.readLong("Publish.sequence");
    schema = in.readLong("Publish.schema");
    confirm = in.readBoolean("Publish.confirm");
    eventsStart = in.position();
    events.wrap(buffer, eventsStart, to, limits, bodyStart);
    int count = 0;
    while (events.next()) {
      count++;
      if (count > FrameLimits.MAX_PUBLISHED_EVENTS) {
        throw in.tooBig(
            "Publish.events count", eventsStart, count, FrameLimits.MAX_PUBLISHED_EVENTS);
      }
    }
    eventsEnd = events.arrayEnd();
    if (count == 0) {
      throw in.malformed("Publish.events", eventsStart, "no event", "at least one");
    }
    if (sequence < 1 || sequence > Long.MAX_VALUE - count) {
      throw in.malformed(
          "Publish.sequence", sequenceAt, sequence, "1.." + (Long.MAX_VALUE - count));
    }
    readDurable(count);
    eventCount = count;
    eventBytes = events.itemBytes();
  }

  private void readDurable(int count) {
    in.position(eventsEnd);
    if (in.atEnd()) {
      return;
    }
    expect = in.readOffset("Publish.expect");
    if (in.atEnd()) {
      return;
    }
    delayMillis = in.readOffset("Publish.delayMillis");
    if (in.atEnd()) {
      return;
    }
    ttlMillis = in.readOffset("Publish.ttlMillis");
    if (in.atEnd()) {
      return;
    }
    if (in.readPresent("Publish.producerName")) {
      nameLength = in.skipString("Publish.producerName", ProducerName.MAX_BYTES);
      nameStart = in.position() - nameLength;
    }
    int numberAt = in.position();
    number = in.atEnd() ? 0 : in.readLong("Publish.number");
    if (nameLength < 0 && number != 0) {
      throw in.malformed("Publish.number", numberAt, number, "0 without producerName");
    }
    if (nameLength >= 0 && (number < 1 || number > ProducerName.MAX_NUMBER - count)) {
      throw in.malformed(
          "Publish.number",
          numberAt,
          number,
          "1.." + (ProducerName.MAX_NUMBER - count) + " with producerName");
    }
  }

  /** Reads on behind a topic that is too long, because the refusal of the frame has to name it. */
  private void readLongTopic(int from, int to) {
    in.position(from);
    long length = in.readLong("Publish.topic");
    int start = in.position();
    if (length <= to - start) {
      topicStart = start;
      topicLength = (int) length;
      in.position(start + topicLength);
      try {
        sequence = in.readLong("Publish.sequence");
      } catch (MalformedFrameException e) {
        // The frame is refused for its topic, which was wrong first.
        sequence = 0;
      }
    }
  }

  /**
   * Returns the start of the topic's bytes.
   *
   * @return an index into the buffer
   */
  public int topicStart() {
    return topicStart;
  }

  /**
   * Returns the length of the topic.
   *
   * @return bytes of UTF-8, at most {@link Topic#MAX_BYTES}; 0 if it was not read; after a refusal
   *     it may be any number
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
   * Returns the topic for a refusal.
   *
   * @return the topic, or of one that is too long the beginning with an ellipsis behind it: at most
   *     {@link Topic#MAX_BYTES} bytes of UTF-8; empty if it was not read or is no UTF-8
   */
  public String shownTopic() {
    if (topicLength <= Topic.MAX_BYTES) {
      return topic();
    }
    int end = topicStart + Topic.MAX_BYTES - ELLIPSIS_BYTES;
    // Not inside a character.
    while (end > topicStart && (buf.get(end) & 0xC0) == 0x80) {
      end--;
    }
    return Utf8.isValid(buf, topicStart, end) ? Utf8.decode(buf, topicStart, end) + ELLIPSIS : "";
  }

  /**
   * Returns the sequence number of the first event.
   *
   * @return 1 or more; 0 if it was not read; after a refusal whatever was received
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
   * Returns whether the publisher wants a {@code Confirm}.
   *
   * @return true if it does
   */
  public boolean confirm() {
    return confirm;
  }

  /**
   * Returns what has to be true for a durable topic.
   *
   * @return 0 for nothing, 1 if the topic is to be empty, else the position of its last event and 1
   */
  public long expect() {
    return expect;
  }

  /**
   * Returns how long the events of a durable topic wait before they get their positions.
   *
   * @return milliseconds, 0 or more
   */
  public long delayMillis() {
    return delayMillis;
  }

  /**
   * Returns how long the events of a durable topic are delivered.
   *
   * @return milliseconds; 0 for always
   */
  public long ttlMillis() {
    return ttlMillis;
  }

  /**
   * Returns whether repetitions of the events are known by a name that the application has chosen.
   *
   * @return true if the frame has such a name
   */
  public boolean hasProducerName() {
    return nameLength >= 0;
  }

  /**
   * Returns the name that the application has chosen, which is valid UTF-8 but may be illegal as a
   * name.
   *
   * @return a new string; null if there is none
   */
  public @Nullable String producerName() {
    return nameLength < 0 ? null : Utf8.decode(buf, nameStart, nameStart + nameLength);
  }

  /**
   * Returns the application's number of the first event.
   *
   * @return 1 or more; 0 without a {@link #producerName}
   */
  public long number() {
    return number;
  }

  /**
   * Returns whether the frame asks for something that only durable topics have.
   *
   * @return true for an expectation, a delay, a time to live or a producer name
   */
  public boolean needsDurable() {
    return expect != 0 || delayMillis != 0 || ttlMillis != 0 || hasProducerName();
  }

  /**
   * Returns the number of events.
   *
   * @return 1 or more; 0 after a refusal
   */
  public int eventCount() {
    return eventCount;
  }

  /**
   * Returns the size of the events without the bytes around and between them.
   *
   * @return bytes
   */
  public int eventBytes() {
    return eventBytes;
  }

  /**
   * Returns the size of the events as one block, as {@link #writeEvents} writes them.
   *
   * @return bytes
   */
  public int eventsSize() {
    return events.isCanonical()
        ? eventsEnd - eventsStart
        : EventBlocks.blockSize(eventCount, eventBytes);
  }

  /**
   * Returns the start of the events, if they already have the form that {@link #writeEvents}
   * writes.
   *
   * @return an index into the buffer, from which {@link #eventsSize} bytes can be copied unchanged;
   *     -1 if they have to be rewritten
   */
  public int eventsInPlace() {
    return events.isCanonical() ? eventsStart : -1;
  }

  /**
   * Writes the events as one block with its size: the received bytes if they have this form
   * already, else with a new block around them.
   *
   * @param out has room for {@link #eventsSize} bytes at its position
   */
  public void writeEvents(ByteBuffer out) {
    if (events.isCanonical()) {
      copy(eventsStart, eventsEnd, out);
      return;
    }
    Varint.write(out, -(long) eventCount);
    Varint.write(out, eventBytes);
    if (events.isOneBlock()) {
      // As plain Avro libraries write them: the events lie together already.
      copy(events.lastItemsStart(), events.lastItemsStart() + eventBytes, out);
    } else {
      rewalk.wrap(buf, eventsStart, eventsEnd, limits);
      while (rewalk.next()) {
        copy(rewalk.eventStart(), rewalk.eventEnd(), out);
      }
    }
    out.put((byte) 0);
  }

  private void copy(int from, int to, ByteBuffer out) {
    out.put(out.position(), buf, from, to - from);
    out.position(out.position() + to - from);
  }
}
