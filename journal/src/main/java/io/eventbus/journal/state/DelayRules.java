package io.eventbus.journal.state;

import io.eventbus.journal.PublishHead;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.RecordResult.Released;
import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.codec.EntryFormatException;
import io.eventbus.journal.codec.EntryReader;
import io.eventbus.journal.codec.EntryWriter;
import io.eventbus.journal.codec.EventBlock;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.Release;
import io.eventbus.journal.rows.RowScan;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Rules of events that wait for their time. A row of them is an entry with their publication, so
 * that it has no format of its own.
 */
final class DelayRules {
  /** Number of events after which a release leaves the rest to the next; part of the rules. */
  static final int MAX_EVENTS = 10_000;

  /** Size of events after which a release leaves the rest to the next; part of the rules. */
  static final int MAX_BYTES = 1 << 20;

  private final ShardContext context;
  private final TopicTable topics;
  private final EventAppender appender;
  private final EntryReader reader = new EntryReader();

  DelayRules(ShardContext context, TopicTable topics, EventAppender appender) {
    this.context = context;
    this.topics = topics;
    this.appender = appender;
  }

  @Nullable Refused checkRoom(EventBlock events) {
    long count = context.counters.delayed + events.count();
    if (count > context.limits.delayed()) {
      return PublishRules.full("delayed events of the shard", count, "" + context.limits.delayed());
    }
    long bytes = context.counters.delayedBytes + events.bytes();
    if (bytes > context.limits.delayedBytes()) {
      return PublishRules.full(
          "bytes of delayed events of the shard", bytes, "" + context.limits.delayedBytes());
    }
    return null;
  }

  /** Stores events until they are due. */
  void delay(Journal journal, PublishHead head, long sequence, EventBlock events) {
    PublishHead stored =
        new PublishHead(
            head.journal(),
            head.topic(),
            head.producer(),
            head.originProducer(),
            head.originOf(sequence),
            sequence,
            -1,
            0,
            head.schema(),
            head.receivedAt(),
            head.ttlMillis(),
            0);
    Publish publish = new Publish(stored, events);
    ByteBuffer value = ByteBuffer.allocate(EntryWriter.HEAD_BYTES + EntryWriter.maxSize(publish));
    EntryWriter.begin(value);
    EntryWriter.write(value, publish);
    EntryWriter.setStamp(value, 0, context.stamp);
    long due = context.stamp + head.delayMillis();
    context.rows.put(
        Keys.delayed(journal.number(), due, ++context.counters.lastDelayed), value.flip());
    count(journal, events, 1);
  }

  private void count(Journal journal, EventBlock events, long sign) {
    context.counters.delayed += sign * events.count();
    context.counters.delayedBytes += sign * events.bytes();
    journal.counters().delayed += sign * events.count();
    journal.counters().delayedBytes += sign * events.bytes();
    context.changed(journal);
  }

  /** Gives positions to the events that are due, in the order of their times. */
  RecordResult release(Release record) {
    Journal journal = context.journal(record.journal());
    if (journal == null) {
      return ShardContext.noJournal(record.journal());
    }
    JournalCounters counters = journal.counters();
    long upTo = Math.min(record.upTo(), context.stamp);
    if (upTo < counters.delayedFrom) {
      return new Released(0, true);
    }
    long released = 0;
    long bytes = 0;
    try (RowScan scan =
        context.rows.scan(
            Keys.delayedFrom(journal.number(), counters.delayedFrom),
            Keys.delayedFrom(journal.number(), upTo + 1))) {
      while (scan.next()) {
        if (released >= MAX_EVENTS || bytes >= MAX_BYTES) {
          counters.delayedFrom = Keys.number(scan.key());
          return new Released(released, false);
        }
        Publish publish = read(scan.key(), scan.value());
        PublishHead head = publish.head();
        TopicRow topic = topics.getOrCreate(journal, head.topic());
        appender.append(journal, topic, head, head.sequence(), publish.events());
        context.rows.delete(scan.key());
        count(journal, publish.events(), -1);
        released += publish.events().count();
        bytes += publish.events().bytes();
      }
    }
    if (released > 0) {
      counters.delayedFrom = upTo + 1;
    }
    return new Released(released, true);
  }

  private Publish read(byte[] key, byte[] value) {
    try {
      Entry entry = reader.read(ByteBuffer.wrap(value));
      return (Publish) entry.records().get(0);
    } catch (EntryFormatException e) {
      throw RowCache.damaged(key, e);
    }
  }
}
