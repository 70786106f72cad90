package io.eventbus.protocol;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * View of a {@code Deliver} in place: its head, a walk over its events, and the group subscriptions
 * that it is for.
 *
 * <p>For one thread; reused, so that reading allocates nothing but what grows with the number of
 * groups. Valid until the buffer changes.
 */
public final class DeliverView {
  private static final int MAX_GROUPS = 10_000;

  private final BodyReader in = new BodyReader();
  private final EventCursor events = new EventCursor();
  private ByteBuffer buf = ByteBuffer.allocate(0);
  private FrameLimits limits = FrameLimits.DEFAULT;
  private int bodyStart;
  private int topicStart;
  private int topicLength;
  private long producer;
  private int sequenceAt;
  private long sequence;
  private long schema;
  private long receivedAt;
  private long offset;
  private int eventsStart;
  private int eventsEnd;
  private int eventCount;
  private long[] groups = new long[2];
  private int groupCount;
  private long originProducer;
  private long originSequence;

  /** Creates an empty view. */
  public DeliverView() {}

  /**
   * Reads and checks a whole body, every event included.
   *
   * @param buffer holds the body of the frame
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @param frameLimits the limits
   * @throws MalformedFrameException if anything is malformed or exceeds a limit
   */
  public void read(ByteBuffer buffer, int from, int to, FrameLimits frameLimits) {
    eventCount = 0;
    groupCount = 0;
    limits = frameLimits;
    readHead(buffer, from, to);
    int count = 0;
    EventCursor cursor = events();
    while (cursor.next()) {
      count++;
    }
    eventCount = count;
    eventsEnd = cursor.arrayEnd();
    if (sequence < 1 || sequence > Long.MAX_VALUE - count) {
      throw in.malformed(
          "Deliver.sequence", sequenceAt, sequence, "1.." + (Long.MAX_VALUE - count));
    }
    in.position(eventsEnd);
    readTail();
  }

  /**
   * Reads a body that another bus has made, whose events lie in one block with its size, without
   * reading each of them: the bus that accepted them from their publisher has checked them.
   *
   * @param buffer holds the body of the frame
   * @param from the index of its first byte
   * @param to the index after its last byte
   * @throws MalformedFrameException if the head is malformed or the events are not in one block
   */
  public void readOneBlock(ByteBuffer buffer, int from, int to) {
    eventCount = 0;
    groupCount = 0;
    readHead(buffer, from, to);
    long count = in.readBlockCount("Deliver.events", 4);
    int end = in.blockEnd();
    if (count < 1 || count > Integer.MAX_VALUE || end < 0) {
      throw in.malformed(
          "Deliver.events", eventsStart, count + " events", "one block of known size");
    }
    in.position(end);
    if (in.readLong("Deliver.events") != 0) {
      throw in.malformed("Deliver.events", end, "a second block", "the end of the array");
    }
    if (sequence < 1 || sequence > Long.MAX_VALUE - count) {
      throw in.malformed(
          "Deliver.sequence", sequenceAt, sequence, "1.." + (Long.MAX_VALUE - count));
    }
    eventCount = (int) count;
    eventsEnd = in.position();
    readTail();
  }

  private void readHead(ByteBuffer buffer, int from, int to) {
    originProducer = 0;
    originSequence = 0;
    buf = buffer;
    bodyStart = from;
    in.wrap(buffer, from, to);
    topicLength = in.skipString("Deliver.topic", Topic.MAX_BYTES);
    topicStart = in.position() - topicLength;
    producer = in.readLong("Deliver.producer");
    sequenceAt = in.position();
    sequence = in.readLong("Deliver.sequence");
    schema = in.readLong("Deliver.schema");
    receivedAt = in.readLong("Deliver.receivedAt");
    offset = in.readLong("Deliver.offset");
    eventsStart = in.position();
    // Until the events are walked, they may reach to the end of the body.
    eventsEnd = to;
  }

  private void readTail() {
    if (in.atEnd()) {
      return;
    }
    readGroups();
    if (in.atEnd()) {
      return;
    }
    originProducer = in.readLong("Deliver.originProducer");
    if (!in.atEnd()) {
      originSequence = in.readLong("Deliver.originSequence");
    }
  }

  private void readGroups() {
    for (long n = in.readBlockCount("Deliver.groups", 1);
        n > 0;
        n = in.readBlockCount("Deliver.groups", 1)) {
      int blockEnd = in.blockEnd();
      if (groupCount + n > MAX_GROUPS) {
        throw in.tooBig("Deliver.groups count", in.position(), groupCount + n, MAX_GROUPS);
      }
      for (long i = 0; i < n; i++) {
        if (groupCount == groups.length) {
          groups = Arrays.copyOf(groups, groups.length * 2);
        }
        groups[groupCount++] = in.readLong("Deliver.groups");
      }
      in.checkBlockEnd("Deliver.groups", blockEnd);
    }
  }

  /**
   * Starts a walk over the events. Each view has a single cursor: a second call starts again.
   *
   * @return a cursor before the first event
   */
  public EventCursor events() {
    return events.wrap(buf, eventsStart, eventsEnd, limits, bodyStart);
  }

  /**
   * Returns the start of the array of events, for a walk of one's own.
   *
   * @return an index into the buffer
   */
  public int eventsStart() {
    return eventsStart;
  }

  /**
   * Returns the end of the array of events.
   *
   * @return the index after the array's last byte
   */
  public int eventsEnd() {
    return eventsEnd;
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
   * @return bytes of UTF-8
   */
  public int topicLength() {
    return topicLength;
  }

  /**
   * Returns the topic.
   *
   * @return a new string
   */
  public String topic() {
    return Utf8.decode(buf, topicStart, topicStart + topicLength);
  }

  /**
   * Returns the producer's number.
   *
   * @return unique in the cluster
   */
  public long producer() {
    return producer;
  }

  /**
   * Returns the sequence number of the first event.
   *
   * @return 1 or more
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
   * Returns the time when the first bus received the events.
   *
   * @return microseconds since the epoch, by that bus's clock
   */
  public long receivedAt() {
    return receivedAt;
  }

  /**
   * Returns the publisher's number of a durable topic, whose {@link #producer} is the journal.
   *
   * @return unique in the cluster; 0 for a topic that is not durable
   */
  public long originProducer() {
    return originProducer;
  }

  /**
   * Returns the publisher's number of the first event of a durable topic, whose {@link #sequence}
   * is the journal's.
   *
   * @return 1 or more; 0 for a topic that is not durable
   */
  public long originSequence() {
    return originSequence;
  }

  /** Returns whether the events have a publisher apart from {@link #producer}. */
  boolean hasOrigin() {
    return originProducer != 0 || originSequence != 0;
  }

  /**
   * Returns the position of the first event in its journal.
   *
   * @return 1 or more, or -1 for a topic that is not durable
   */
  public long offset() {
    return offset;
  }

  /**
   * Returns the number of events.
   *
   * @return 0 or more
   */
  public int eventCount() {
    return eventCount;
  }

  /**
   * Returns the number of group subscriptions that the events are for.
   *
   * @return 0 when they are only for subscriptions without a group
   */
  public int groupCount() {
    return groupCount;
  }

  /**
   * Returns a group subscription that the events are for.
   *
   * @param i 0 to {@link #groupCount} - 1
   * @return the id that the client gave to the subscription
   */
  public long group(int i) {
    if (i < 0 || i >= groupCount) {
      throw new IndexOutOfBoundsException(
          "group: " + i + " (expected: 0.." + (groupCount - 1) + ")");
    }
    return groups[i];
  }

  /**
   * Returns the ids, of which the first {@link #groupCount} count; for writing the same groups
   * again.
   */
  long[] groupArray() {
    return groups;
  }
}
