package io.eventbus.journal.codec;

import io.eventbus.journal.PublishHead;
import io.eventbus.journal.chunk.TestEvents;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameLimits;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Entries and their parts for tests. */
public final class TestEntries {
  private TestEntries() {}

  /** Returns a head with plain values for what a test does not look at. */
  public static PublishHead head(String topic, String producer, long sequence) {
    return head(topic, producer, sequence, sequence - 1, 0);
  }

  /** Returns a head for journal 1. */
  public static PublishHead head(
      String topic, String producer, long sequence, long previous, long expect) {
    return head(1, topic, producer, sequence, previous, expect, 0, 0);
  }

  /** Returns a head with everything that the rules look at. */
  public static PublishHead head(
      int journal,
      String topic,
      String producer,
      long sequence,
      long previous,
      long expect,
      long ttlMillis,
      long delayMillis) {
    return new PublishHead(
        journal,
        topic.getBytes(StandardCharsets.UTF_8),
        producer.getBytes(StandardCharsets.UTF_8),
        99,
        sequence,
        sequence,
        previous,
        expect,
        0,
        1_000,
        ttlMillis,
        delayMillis);
  }

  /** Returns the same head with another number for subscribers. */
  public static PublishHead withOrigin(PublishHead head, long originSequence) {
    return new PublishHead(
        head.journal(),
        head.topic(),
        head.producer(),
        head.originProducer(),
        originSequence,
        head.sequence(),
        head.previous(),
        head.expect(),
        head.schema(),
        head.receivedAt(),
        head.ttlMillis(),
        head.delayMillis());
  }

  /** Returns events that are recognized by their first number. */
  public static EventBlock numbered(long first, int count, int payloadBytes) {
    return block(TestEvents.numbered(first, count, payloadBytes), count);
  }

  /** Returns a block of events that lie next to each other. */
  public static EventBlock block(ByteBuffer events, int count) {
    EventCursor cursor = new EventCursor();
    int max = 0;
    for (int at = 0; at < events.limit(); at = cursor.eventEnd()) {
      cursor.wrapOne(events, at, events.limit(), FrameLimits.UNLIMITED, 0);
      max = Math.max(max, cursor.eventEnd() - at);
    }
    return new EventBlock(events, 0, events.limit(), count, max);
  }

  /** Returns a copy of what remains in a buffer. */
  public static byte[] array(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(buffer.position(), bytes);
    return bytes;
  }

  /** Returns the bytes of an entry. */
  public static ByteBuffer bytes(long stamp, List<ShardRecord> records) {
    int size = EntryWriter.HEAD_BYTES;
    for (ShardRecord record : records) {
      size += EntryWriter.maxSize(record);
    }
    ByteBuffer out = ByteBuffer.allocate(size);
    EntryWriter.begin(out);
    for (ShardRecord record : records) {
      EntryWriter.write(out, record);
    }
    EntryWriter.setStamp(out, 0, stamp);
    return out.flip();
  }
}
