package io.eventbus.journal.codec;

import io.eventbus.journal.PublishHead;
import io.eventbus.journal.codec.ShardRecord.ChangeJournal;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.DeleteJournal;
import io.eventbus.journal.codec.ShardRecord.ExpireProducers;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.Purge;
import io.eventbus.journal.codec.ShardRecord.Release;
import io.eventbus.journal.codec.ShardRecord.Tick;
import io.eventbus.journal.codec.ShardRecord.Trim;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.Utf8;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Reader of entries, which trusts nothing. For one thread; reused. */
public final class EntryReader {
  private static final long MAX_SEQUENCE = Long.MAX_VALUE - FrameLimits.MAX_PUBLISHED_EVENTS;

  private final BodyReader in = new BodyReader();
  private final EventCursor cursor = new EventCursor();
  private ByteBuffer buffer = ByteBuffer.allocate(0);
  private int start;

  /** Creates a reader. */
  public EntryReader() {}

  /**
   * Reads an entry whole. Events are not copied.
   *
   * @param entry the bytes of the entry, from position to limit, which do not change as long as its
   *     events are used; the position stays
   * @throws EntryFormatException if it is no entry that {@link EntryWriter} writes
   */
  public Entry read(ByteBuffer entry) throws EntryFormatException {
    // Big-endian whatever the caller's buffer is.
    buffer = entry.duplicate().order(ByteOrder.BIG_ENDIAN);
    start = entry.position();
    in.wrap(buffer, start, entry.limit());
    try {
      return read(entry.remaining());
    } catch (MalformedFrameException e) {
      throw new EntryFormatException("entry: " + e.getMessage(), e);
    }
  }

  private Entry read(int size) {
    if (size < EntryWriter.HEAD_BYTES || size > Entry.MAX_BYTES) {
      throw in.malformed(
          "size",
          start,
          size + " bytes",
          "at least " + EntryWriter.HEAD_BYTES + " and at most " + Entry.MAX_BYTES);
    }
    byte format = buffer.get(start);
    if (format != EntryWriter.FORMAT) {
      throw in.malformed("format", start, format, "" + EntryWriter.FORMAT);
    }
    long stamp = buffer.getLong(start + EntryWriter.STAMP_AT);
    if (stamp < 0 || stamp > Entry.MAX_STAMP) {
      throw in.malformed("stamp", start + EntryWriter.STAMP_AT, stamp, "0.." + Entry.MAX_STAMP);
    }
    in.position(start + EntryWriter.HEAD_BYTES);
    List<ShardRecord> records = new ArrayList<>();
    while (!in.atEnd()) {
      int at = in.position();
      int code = in.readInt("type");
      if (code < 1 || code > RecordType.maxCode()) {
        throw in.malformed("type", at, code, "1.." + RecordType.maxCode());
      }
      if (records.size() == Entry.MAX_RECORDS) {
        throw in.tooBig("records", at, records.size() + 1L, Entry.MAX_RECORDS);
      }
      RecordType type = RecordType.of(code);
      records.add(readRecord(type));
      if (type.standsAlone() && (records.size() > 1 || !in.atEnd())) {
        throw in.malformed("records", at, type + " beside others", "alone in its entry");
      }
    }
    if (records.isEmpty()) {
      throw in.malformed("records", in.position(), "none", "at least one");
    }
    return new Entry(stamp, records);
  }

  private ShardRecord readRecord(RecordType type) {
    return switch (type) {
      case PUBLISH -> readPublish();
      case CREATE_JOURNAL ->
          new CreateJournal(
              DefinitionFormat.read(in), readNumber("CreateJournal.creation", 0, Long.MAX_VALUE));
      case CHANGE_JOURNAL -> new ChangeJournal(readJournal(), DefinitionFormat.read(in));
      case DELETE_JOURNAL -> new DeleteJournal(readJournal());
      case TRIM -> new Trim(readJournal(), readNumber("Trim.upTo", 0, Long.MAX_VALUE));
      case PURGE -> readPurge();
      case CREATE_CURSOR,
          ATTACH_CURSOR,
          DETACH_CURSOR,
          SETTLE_CURSOR,
          DELETE_CURSOR,
          JOIN_CURSOR,
          LEAVE_CURSOR,
          TAKE_EVENTS,
          SETTLE_EVENTS,
          SETTLE_SLOTS,
          REDRIVE ->
          CursorRecordFormat.read(in, type);
      case RELEASE -> new Release(readJournal(), readNumber("Release.upTo", 0, Entry.MAX_STAMP));
      case EXPIRE_PRODUCERS ->
          new ExpireProducers(readNumber("ExpireProducers.before", 0, Entry.MAX_STAMP));
      case TICK -> new Tick();
    };
  }

  private Publish readPublish() {
    int journal = readJournal();
    int topicAt = in.position();
    byte[] topic = in.readBytes("Publish.topic", Topic.MAX_BYTES);
    if (!Utf8.isValid(buffer, in.position() - topic.length, in.position())) {
      throw in.malformed("Publish.topic", topicAt, "bytes that are not UTF-8", "a string");
    }
    int producerAt = in.position();
    byte[] producer = in.readBytes("Publish.producer", PublishHead.MAX_PRODUCER_BYTES);
    if (producer.length == 0) {
      throw in.malformed("Publish.producer", producerAt, "no bytes", "at least one");
    }
    long originProducer = in.readLong("Publish.originProducer");
    long originSequence = readNumber("Publish.originSequence", 1, MAX_SEQUENCE);
    long sequence = readNumber("Publish.sequence", 1, MAX_SEQUENCE);
    long previous = readNumber("Publish.previous", -1, sequence - 1);
    PublishHead head =
        new PublishHead(
            journal,
            topic,
            producer,
            originProducer,
            originSequence,
            sequence,
            previous,
            readNumber("Publish.expect", 0, Long.MAX_VALUE),
            in.readLong("Publish.schema"),
            in.readLong("Publish.receivedAt"),
            readNumber("Publish.ttlMillis", 0, PublishHead.MAX_MILLIS),
            readNumber("Publish.delayMillis", 0, PublishHead.MAX_MILLIS));
    return new Publish(head, EventBlock.read("Publish.events", in, cursor, buffer, start));
  }

  private Purge readPurge() {
    int journal = readJournal();
    int topicAt = in.position();
    String topic = in.readString("Purge.topic", Topic.MAX_BYTES);
    String problem = topic.isEmpty() ? null : Topic.formProblem(topic);
    if (problem != null) {
      throw in.malformed("Purge.topic", topicAt, problem, "a topic or nothing");
    }
    long from = readNumber("Purge.from", 1, Long.MAX_VALUE);
    return new Purge(journal, topic, from, readNumber("Purge.to", from, Long.MAX_VALUE));
  }

  private int readJournal() {
    return (int) readNumber("journal", 1, Integer.MAX_VALUE);
  }

  private long readNumber(String field, long min, long max) {
    return CursorRecordFormat.readNumber(in, field, min, max);
  }
}
