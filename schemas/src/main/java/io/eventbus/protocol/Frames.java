package io.eventbus.protocol;

import java.nio.ByteBuffer;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Writer of the frames of the fast path: {@code Publish}, {@code Deliver} and {@code Confirm}.
 *
 * <p>Each frame is measured first and then written at the position of a buffer that the caller
 * provides, so that writing allocates nothing. All other frames are written and read by {@link
 * ControlFrames}. Stateless; any thread.
 */
public final class Frames {
  /**
   * Maximum number of bytes that {@link #writeDeliverHead} writes: two integers, the topic, and six
   * integers.
   */
  public static final int MAX_DELIVER_HEAD = 8 * Varint.MAX_BYTES + Topic.MAX_BYTES;

  private Frames() {}

  /**
   * Measures a frame's head: the type code and the length of the body.
   *
   * @param type the frame's type
   * @param bodySize bytes of the body
   * @return bytes
   */
  static int headSize(TypeCode type, int bodySize) {
    return Varint.size(type.code()) + Varint.size(bodySize);
  }

  static void writeHead(ByteBuffer out, TypeCode type, int bodySize) {
    Varint.write(out, type.code());
    Varint.write(out, bodySize);
  }

  /**
   * Converts a time to the unit of frames.
   *
   * @param time an instant
   * @return microseconds since the epoch, rounded down
   */
  public static long micros(Instant time) {
    return time.getEpochSecond() * 1_000_000 + time.getNano() / 1000;
  }

  /**
   * Measures one event without a frame around it.
   *
   * @param publishedAt microseconds since the epoch
   * @param keyBytes bytes of the key, or -1 for none
   * @param headersSize bytes of the encoded headers, 1 for none: see {@link EncodedHeaders}
   * @param payloadBytes bytes of the payload
   * @return bytes
   */
  public static int eventSize(long publishedAt, int keyBytes, int headersSize, int payloadBytes) {
    int key = keyBytes < 0 ? 1 : 1 + Varint.size(keyBytes) + keyBytes;
    return Varint.size(publishedAt) + key + headersSize + Varint.size(payloadBytes) + payloadBytes;
  }

  /**
   * Writes one event.
   *
   * @param out has room for {@link #eventSize} bytes at its position
   * @param publishedAt microseconds since the epoch
   * @param key the key in UTF-8, null for none
   * @param headers encoded headers
   * @param payload the payload
   */
  public static void writeEvent(
      ByteBuffer out,
      long publishedAt,
      byte @Nullable [] key,
      EncodedHeaders headers,
      byte[] payload) {
    Varint.write(out, publishedAt);
    if (key == null) {
      Varint.write(out, 0);
    } else {
      Varint.write(out, 1);
      Varint.write(out, key.length);
      out.put(key);
    }
    headers.write(out);
    Varint.write(out, payload.length);
    out.put(payload);
  }

  /**
   * Measures a {@code Publish}.
   *
   * @param topicBytes bytes of the topic
   * @param sequence of the first event
   * @param schema fingerprint, 0 for none
   * @param eventCount number of events, at least 1
   * @param eventBytes bytes of the events together
   * @return bytes of the frame
   */
  public static int publishSize(
      int topicBytes, long sequence, long schema, int eventCount, int eventBytes) {
    return publishSize(topicBytes, sequence, schema, eventCount, eventBytes, 0);
  }

  /**
   * Measures a {@code Publish} with fields behind its events.
   *
   * @param topicBytes bytes of the topic
   * @param sequence of the first event
   * @param schema fingerprint, 0 for none
   * @param eventCount number of events, at least 1
   * @param eventBytes bytes of the events together
   * @param tailBytes from {@link #publishTailSize}; 0 without these fields
   * @return bytes of the frame
   */
  public static int publishSize(
      int topicBytes, long sequence, long schema, int eventCount, int eventBytes, int tailBytes) {
    int body = publishBodySize(topicBytes, sequence, schema, eventCount, eventBytes) + tailBytes;
    return headSize(TypeCode.PUBLISH, body) + body;
  }

  private static int publishBodySize(
      int topicBytes, long sequence, long schema, int eventCount, int eventBytes) {
    return Varint.size(topicBytes)
        + topicBytes
        + Varint.size(sequence)
        + Varint.size(schema)
        + 1
        + EventBlocks.blockSize(eventCount, eventBytes);
  }

  /**
   * Writes a {@code Publish}.
   *
   * @param out has room for {@link #publishSize} bytes at its position
   * @param topic the topic in UTF-8
   * @param sequence of the first event
   * @param schema fingerprint, 0 for none
   * @param confirm whether the bus is to answer
   * @param eventCount number of events, at least 1
   * @param events the events as {@link #writeEvent} wrote them, from position to limit; consumed
   */
  public static void writePublish(
      ByteBuffer out,
      byte[] topic,
      long sequence,
      long schema,
      boolean confirm,
      int eventCount,
      ByteBuffer events) {
    writePublishHead(out, topic, sequence, schema, confirm, eventCount, events.remaining(), 0);
    out.put(events);
    out.put((byte) 0);
  }

  /**
   * Writes the part before the events in a {@code Publish}. The events have to follow, and after
   * them one byte 0, the end of the array.
   *
   * @param out has room for {@link #publishSize} bytes, less those of the events and the one that
   *     ends them, at its position
   * @param topic the topic in UTF-8
   * @param sequence of the first event
   * @param schema fingerprint, 0 for none
   * @param confirm whether the bus is to answer
   * @param eventCount number of events, at least 1
   * @param eventBytes bytes of the events together
   * @param tailBytes bytes that follow the array of events: from {@link #publishTailSize}, or 0
   */
  public static void writePublishHead(
      ByteBuffer out,
      byte[] topic,
      long sequence,
      long schema,
      boolean confirm,
      int eventCount,
      int eventBytes,
      int tailBytes) {
    writeHead(
        out,
        TypeCode.PUBLISH,
        publishBodySize(topic.length, sequence, schema, eventCount, eventBytes) + tailBytes);
    Varint.write(out, topic.length);
    out.put(topic);
    Varint.write(out, sequence);
    Varint.write(out, schema);
    out.put((byte) (confirm ? 1 : 0));
    Varint.write(out, -(long) eventCount);
    Varint.write(out, eventBytes);
  }

  /**
   * Measures the fields of a {@code Publish} behind its events, of which a frame for a topic that
   * is not durable has none.
   *
   * @param expect 0 for no expectation, 1 for an empty topic, else the position of its last event
   *     and 1
   * @param delayMillis how long the events wait, 0 or more
   * @param ttlMillis how long the events are delivered, 0 for always
   * @param producerName the name that the application has chosen, in UTF-8; null for none
   * @param number with that name, of the first event; else 0
   * @return bytes
   */
  public static int publishTailSize(
      long expect, long delayMillis, long ttlMillis, byte @Nullable [] producerName, long number) {
    return Varint.size(expect)
        + Varint.size(delayMillis)
        + Varint.size(ttlMillis)
        + (producerName == null ? 1 : 1 + Varint.size(producerName.length) + producerName.length)
        + Varint.size(number);
  }

  /**
   * Writes the fields of a {@code Publish} behind its events.
   *
   * @param out has room for {@link #publishTailSize} bytes at its position
   * @param expect 0 for no expectation, 1 for an empty topic, else the position of its last event
   *     and 1
   * @param delayMillis how long the events wait, 0 or more
   * @param ttlMillis how long the events are delivered, 0 for always
   * @param producerName the name that the application has chosen, in UTF-8; null for none
   * @param number with that name, of the first event; else 0
   */
  public static void writePublishTail(
      ByteBuffer out,
      long expect,
      long delayMillis,
      long ttlMillis,
      byte @Nullable [] producerName,
      long number) {
    Varint.write(out, expect);
    Varint.write(out, delayMillis);
    Varint.write(out, ttlMillis);
    if (producerName == null) {
      out.put((byte) 0);
    } else {
      Varint.write(out, 1);
      Varint.write(out, producerName.length);
      out.put(producerName);
    }
    Varint.write(out, number);
  }

  /**
   * Measures the {@code Deliver} that a {@code Publish} becomes.
   *
   * @param publish the received frame
   * @param producer the publisher's number
   * @param receivedAt microseconds since the epoch
   * @param offset in a durable topic, else -1
   * @param groups ids of the group subscriptions that it is for, may be empty
   * @param groupCount how many of them count
   * @return bytes of the frame
   */
  public static int deliverSize(
      PublishView publish,
      long producer,
      long receivedAt,
      long offset,
      long[] groups,
      int groupCount) {
    int body = deliverBodySize(publish, producer, receivedAt, offset, groups, groupCount);
    return headSize(TypeCode.DELIVER, body) + body;
  }

  private static int deliverBodySize(
      PublishView publish,
      long producer,
      long receivedAt,
      long offset,
      long[] groups,
      int groupCount) {
    return Varint.size(publish.topicLength())
        + publish.topicLength()
        + Varint.size(producer)
        + Varint.size(publish.sequence())
        + Varint.size(publish.schema())
        + Varint.size(receivedAt)
        + Varint.size(offset)
        + publish.eventsSize()
        + groupsSize(groups, groupCount);
  }

  /**
   * Measures the bytes that {@link #writeDeliverTail} writes.
   *
   * @param groups ids of the group subscriptions, may be empty
   * @param groupCount how many of them count
   * @return bytes, at least 1
   */
  public static int deliverTailSize(long[] groups, int groupCount) {
    return groupsSize(groups, groupCount);
  }

  private static int groupsSize(long[] groups, int count) {
    if (count == 0) {
      return 1;
    }
    int items = groupItemsSize(groups, count);
    return Varint.size(-(long) count) + Varint.size(items) + items + 1;
  }

  private static int groupItemsSize(long[] groups, int count) {
    int size = 0;
    for (int i = 0; i < count; i++) {
      size += Varint.size(groups[i]);
    }
    return size;
  }

  /**
   * Writes the {@code Deliver} that a {@code Publish} becomes: a new head and the same events.
   *
   * @param out has room for {@link #deliverSize} bytes at its position
   * @param in the buffer that {@code publish} was read from
   * @param publish the received frame
   * @param producer the publisher's number
   * @param receivedAt microseconds since the epoch
   * @param offset in a durable topic, else -1
   * @param groups ids of the group subscriptions that it is for, may be empty
   * @param groupCount how many of them count
   */
  public static void writeDeliver(
      ByteBuffer out,
      ByteBuffer in,
      PublishView publish,
      long producer,
      long receivedAt,
      long offset,
      long[] groups,
      int groupCount) {
    writeDeliverHead(out, in, publish, producer, receivedAt, offset, groups, groupCount);
    publish.writeEvents(out);
    writeDeliverTail(out, groups, groupCount);
  }

  /**
   * Writes the part before the events in the {@code Deliver} that a {@code Publish} becomes: at
   * most {@link #MAX_DELIVER_HEAD} bytes. The events follow, as {@link PublishView#writeEvents}
   * writes them, then the {@link #writeDeliverTail tail}.
   *
   * @param out the destination, written at its position
   * @param in the buffer that {@code publish} was read from
   * @param publish the received frame
   * @param producer the publisher's number
   * @param receivedAt microseconds since the epoch
   * @param offset in a durable topic, else -1
   * @param groups ids of the group subscriptions that it is for, may be empty
   * @param groupCount how many of them count
   */
  public static void writeDeliverHead(
      ByteBuffer out,
      ByteBuffer in,
      PublishView publish,
      long producer,
      long receivedAt,
      long offset,
      long[] groups,
      int groupCount) {
    writeHead(
        out,
        TypeCode.DELIVER,
        deliverBodySize(publish, producer, receivedAt, offset, groups, groupCount));
    Varint.write(out, publish.topicLength());
    out.put(out.position(), in, publish.topicStart(), publish.topicLength());
    out.position(out.position() + publish.topicLength());
    Varint.write(out, producer);
    Varint.write(out, publish.sequence());
    Varint.write(out, publish.schema());
    Varint.write(out, receivedAt);
    Varint.write(out, offset);
  }

  /**
   * Writes the part after the events in a {@code Deliver}.
   *
   * @param out has room for one byte, or as many as the groups need
   * @param groups ids of the group subscriptions that it is for, may be empty
   * @param groupCount how many of them count
   */
  public static void writeDeliverTail(ByteBuffer out, long[] groups, int groupCount) {
    if (groupCount > 0) {
      Varint.write(out, -(long) groupCount);
      Varint.write(out, groupItemsSize(groups, groupCount));
      for (int i = 0; i < groupCount; i++) {
        Varint.write(out, groups[i]);
      }
    }
    out.put((byte) 0);
  }

  /**
   * Measures a copy of a {@code Deliver} for other group subscriptions.
   *
   * @param deliver the original
   * @param groups ids of the group subscriptions that it is for
   * @param groupCount how many of them count
   * @return bytes of the frame
   */
  public static int deliverSize(DeliverView deliver, long[] groups, int groupCount) {
    int body = deliverBodySize(deliver, groups, groupCount);
    return headSize(TypeCode.DELIVER, body) + body;
  }

  private static int deliverBodySize(DeliverView deliver, long[] groups, int groupCount) {
    return Varint.size(deliver.topicLength())
        + deliver.topicLength()
        + Varint.size(deliver.producer())
        + Varint.size(deliver.sequence())
        + Varint.size(deliver.schema())
        + Varint.size(deliver.receivedAt())
        + Varint.size(deliver.offset())
        + deliver.eventsEnd()
        - deliver.eventsStart()
        + deliverTailSize(deliver, groups, groupCount);
  }

  /**
   * Writes a copy of a {@code Deliver} for other group subscriptions.
   *
   * @param out has room for {@link #deliverSize(DeliverView, long[], int)} bytes at its position
   * @param in the buffer that {@code deliver} was read from
   * @param deliver the original
   * @param groups ids of the group subscriptions that it is for
   * @param groupCount how many of them count
   */
  public static void writeDeliver(
      ByteBuffer out, ByteBuffer in, DeliverView deliver, long[] groups, int groupCount) {
    writeDeliverHead(out, in, deliver, groups, groupCount);
    copy(out, in, deliver.eventsStart(), deliver.eventsEnd() - deliver.eventsStart());
    writeDeliverTail(out, deliver, groups, groupCount);
  }

  /**
   * Measures the bytes that {@link #writeDeliverTail(ByteBuffer, DeliverView, long[], int)} writes.
   *
   * @param deliver the original
   * @param groups ids of the group subscriptions, may be empty
   * @param groupCount how many of them count
   * @return bytes, at least 1
   */
  public static int deliverTailSize(DeliverView deliver, long[] groups, int groupCount) {
    return groupsSize(groups, groupCount) + originSize(deliver, 0);
  }

  /**
   * Writes the part after the events in a copy of a {@code Deliver} for other group subscriptions.
   *
   * @param out has room for {@link #deliverTailSize(DeliverView, long[], int)} bytes
   * @param deliver the original
   * @param groups ids of the group subscriptions that it is for, may be empty
   * @param groupCount how many of them count
   */
  public static void writeDeliverTail(
      ByteBuffer out, DeliverView deliver, long[] groups, int groupCount) {
    writeDeliverTail(out, groups, groupCount);
    writeOrigin(out, deliver, 0);
  }

  private static int originSize(DeliverView deliver, int index) {
    return deliver.hasOrigin()
        ? Varint.size(deliver.originProducer()) + Varint.size(deliver.originSequence() + index)
        : 0;
  }

  private static void writeOrigin(ByteBuffer out, DeliverView deliver, int index) {
    if (deliver.hasOrigin()) {
      Varint.write(out, deliver.originProducer());
      Varint.write(out, deliver.originSequence() + index);
    }
  }

  /**
   * Writes the part before the events in a copy of a {@code Deliver} for other group subscriptions:
   * at most {@link #MAX_DELIVER_HEAD} bytes.
   *
   * @param out the destination, written at its position
   * @param in the buffer that {@code deliver} was read from
   * @param deliver the original
   * @param groups ids of the group subscriptions that it is for
   * @param groupCount how many of them count
   */
  public static void writeDeliverHead(
      ByteBuffer out, ByteBuffer in, DeliverView deliver, long[] groups, int groupCount) {
    writeHead(out, TypeCode.DELIVER, deliverBodySize(deliver, groups, groupCount));
    Varint.write(out, deliver.topicLength());
    copy(out, in, deliver.topicStart(), deliver.topicLength());
    Varint.write(out, deliver.producer());
    Varint.write(out, deliver.sequence());
    Varint.write(out, deliver.schema());
    Varint.write(out, deliver.receivedAt());
    Varint.write(out, deliver.offset());
  }

  static void copy(ByteBuffer out, ByteBuffer in, int from, int length) {
    out.put(out.position(), in, from, length);
    out.position(out.position() + length);
  }

  /**
   * Measures a {@code Deliver} with a single event of another.
   *
   * @param deliver the source of the event; its head is copied
   * @param event a cursor that stands on the event
   * @return bytes of the frame
   */
  public static int singleDeliverSize(DeliverView deliver, EventCursor event) {
    return partialDeliverSize(deliver, event.index(), 1, event.eventEnd() - event.eventStart());
  }

  /**
   * Writes a {@code Deliver} with a single event of another.
   *
   * @param out has room for {@link #singleDeliverSize} bytes at its position
   * @param in the buffer that {@code deliver} was read from
   * @param deliver the source of the event
   * @param event a cursor that stands on the event
   */
  public static void writeSingleDeliver(
      ByteBuffer out, ByteBuffer in, DeliverView deliver, EventCursor event) {
    int bytes = event.eventEnd() - event.eventStart();
    writePartialDeliver(out, in, deliver, event.index(), 1, event.eventStart(), bytes);
  }

  /**
   * Measures a {@code Deliver} with some events of another that lie next to each other.
   *
   * @param deliver the source of the events; its head is copied
   * @param index number of the first of them in the source, from 0
   * @param count how many they are
   * @param eventBytes bytes of these events
   * @return bytes of the frame
   */
  public static int partialDeliverSize(DeliverView deliver, int index, int count, int eventBytes) {
    int body = partialDeliverBodySize(deliver, index, count, eventBytes);
    return headSize(TypeCode.DELIVER, body) + body;
  }

  private static int partialDeliverBodySize(
      DeliverView deliver, int index, int count, int eventBytes) {
    return Varint.size(deliver.topicLength())
        + deliver.topicLength()
        + Varint.size(deliver.producer())
        + Varint.size(deliver.sequence() + index)
        + Varint.size(deliver.schema())
        + Varint.size(deliver.receivedAt())
        + Varint.size(offsetOf(deliver, index))
        + EventBlocks.blockSize(count, eventBytes)
        + groupsSize(deliver.groupArray(), deliver.groupCount())
        + originSize(deliver, index);
  }

  private static long offsetOf(DeliverView deliver, int index) {
    return deliver.offset() < 0 ? deliver.offset() : deliver.offset() + index;
  }

  /**
   * Writes a {@code Deliver} with some events of another that lie next to each other.
   *
   * @param out has room for {@link #partialDeliverSize} bytes at its position
   * @param in the buffer that {@code deliver} was read from
   * @param deliver the source of the events
   * @param index number of the first of them in the source, from 0
   * @param count how many they are
   * @param from index of their first byte in the buffer
   * @param eventBytes bytes of these events
   */
  public static void writePartialDeliver(
      ByteBuffer out,
      ByteBuffer in,
      DeliverView deliver,
      int index,
      int count,
      int from,
      int eventBytes) {
    writeHead(out, TypeCode.DELIVER, partialDeliverBodySize(deliver, index, count, eventBytes));
    Varint.write(out, deliver.topicLength());
    copy(out, in, deliver.topicStart(), deliver.topicLength());
    Varint.write(out, deliver.producer());
    Varint.write(out, deliver.sequence() + index);
    Varint.write(out, deliver.schema());
    Varint.write(out, deliver.receivedAt());
    Varint.write(out, offsetOf(deliver, index));
    Varint.write(out, -(long) count);
    Varint.write(out, eventBytes);
    copy(out, in, from, eventBytes);
    out.put((byte) 0);
    writeDeliverTail(out, deliver.groupArray(), deliver.groupCount());
    writeOrigin(out, deliver, index);
  }

  /**
   * Measures the {@code Confirm} of a {@code Publish}.
   *
   * @param publish the confirmed frame
   * @param receivers number of subscribers and other buses that its events were queued for
   * @return bytes of the frame
   */
  public static int confirmSize(PublishView publish, int receivers) {
    return confirmSize(
        publish.topicLength(), publish.sequence() + publish.eventCount() - 1, receivers, 0, 0);
  }

  /**
   * Measures the {@code Confirm} of a {@code Publish}.
   *
   * @param topicBytes bytes of the topic
   * @param lastSequence of the last event
   * @param receivers as in the frame
   * @param position as in the frame
   * @param creation as in the frame
   * @return bytes of the frame
   */
  public static int confirmSize(
      int topicBytes, long lastSequence, long receivers, long position, long creation) {
    int body = confirmBodySize(topicBytes, lastSequence, receivers, position, creation);
    return headSize(TypeCode.CONFIRM, body) + body;
  }

  private static int confirmBodySize(
      int topicBytes, long lastSequence, long receivers, long position, long creation) {
    return 1
        + Varint.size(lastSequence)
        + Varint.size(topicBytes)
        + topicBytes
        + Varint.size(receivers)
        + Varint.size(position)
        + 1
        + Varint.size(creation);
  }

  /**
   * Writes the {@code Confirm} of a {@code Publish}.
   *
   * @param out has room for {@link #confirmSize(PublishView, int)} bytes at its position
   * @param in the buffer that {@code publish} was read from
   * @param publish the confirmed frame
   * @param receivers number of subscribers and other buses that its events were queued for
   */
  public static void writeConfirm(
      ByteBuffer out, ByteBuffer in, PublishView publish, int receivers) {
    writeConfirm(
        out,
        in,
        publish.topicStart(),
        publish.topicLength(),
        publish.sequence() + publish.eventCount() - 1,
        receivers,
        0,
        false,
        0);
  }

  /**
   * Writes the {@code Confirm} of a {@code Publish} that may not be there any more.
   *
   * @param out has room for {@link #confirmSize(int, long, long, long, long)} bytes at its position
   * @param in holds the topic
   * @param topicStart the index of the topic's first byte
   * @param topicBytes bytes of the topic
   * @param lastSequence of the last event
   * @param receivers number of subscribers and other buses that its events were queued for, -1 for
   *     a durable topic
   * @param position of the last event in its journal; 0 for none or unknown
   * @param repeated whether events of the frame were stored before
   * @param creation of the journal; 0 for none or unknown
   */
  public static void writeConfirm(
      ByteBuffer out,
      ByteBuffer in,
      int topicStart,
      int topicBytes,
      long lastSequence,
      long receivers,
      long position,
      boolean repeated,
      long creation) {
    writeHead(
        out,
        TypeCode.CONFIRM,
        confirmBodySize(topicBytes, lastSequence, receivers, position, creation));
    Varint.write(out, TypeCode.PUBLISH.code());
    Varint.write(out, lastSequence);
    Varint.write(out, topicBytes);
    copy(out, in, topicStart, topicBytes);
    Varint.write(out, receivers);
    Varint.write(out, position);
    out.put((byte) (repeated ? 1 : 0));
    Varint.write(out, creation);
  }
}
