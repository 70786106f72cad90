package io.eventbus.journal.state;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.Retention;
import io.eventbus.journal.codec.EventBlock;
import io.eventbus.journal.codec.ShardRecord.Publish;
import org.jspecify.annotations.Nullable;

/**
 * Rules of publications: repetition, selection, expectation, limits, in this order. A repetition
 * gets the answer of the first time, whatever has changed since. One with new events behind the
 * known ones is decided by the new ones.
 */
final class PublishRules {
  private final ShardContext context;
  private final TopicTable topics;
  private final ProducerTable producers;
  private final EventAppender appender;
  private final DelayRules delays;

  PublishRules(
      ShardContext context,
      TopicTable topics,
      ProducerTable producers,
      EventAppender appender,
      DelayRules delays) {
    this.context = context;
    this.topics = topics;
    this.producers = producers;
    this.appender = appender;
    this.delays = delays;
  }

  RecordResult publish(Publish record) {
    PublishHead head = record.head();
    Journal journal = context.journal(head.journal());
    if (journal == null) {
      return ShardContext.noJournal(head.journal());
    }
    TopicRow topic = topics.get(journal, head.topic());
    if (topic == null) {
      return decide(journal, null, null, head, head.sequence(), record.events());
    }
    byte[] key = Keys.producer(journal.number(), topic.number, head.producer());
    ProducerRow producer = producers.get(key);
    if (producer == null) {
      return decide(journal, topic, null, head, head.sequence(), record.events());
    }
    long first = head.sequence();
    long last = first + record.events().count() - 1;
    if (last <= producer.last()) {
      return repeat(producer, key, first, last);
    }
    if (first <= producer.last()) {
      if (!producer.hasAccepted(first, producer.last())) {
        return unknown(producer, first);
      }
      int known = (int) (producer.last() - first + 1);
      return decide(journal, topic, producer, head, first + known, record.events().without(known));
    }
    if (first > producer.last() + 1 && head.previous() > producer.last()) {
      return new Refused(
          JournalRefusalReason.SEQUENCE_GAP,
          "previous: "
              + head.previous()
              + " before sequence "
              + first
              + " (expected: at most "
              + producer.last()
              + ", the last of this producer in the topic)");
    }
    return decide(journal, topic, producer, head, first, record.events());
  }

  private RecordResult repeat(ProducerRow producer, byte[] key, long first, long last) {
    JournalRefusalReason reason = producer.refusal(first, last);
    if (reason == null && !producer.hasAccepted(first, last)) {
      return unknown(producer, first);
    }
    producers.heard(key, producer);
    if (reason != null) {
      return new Refused(
          reason, "number: " + first + " was refused before (expected: a number that is new)");
    }
    return new Published(producer.position(last), true);
  }

  private static Refused unknown(ProducerRow producer, long first) {
    return new Refused(
        JournalRefusalReason.SEQUENCE_GAP,
        "number: "
            + first
            + " (expected: more than "
            + producer.last()
            + ", or a number that is known to be accepted)");
  }

  /** Decides about events that are new. */
  private RecordResult decide(
      Journal journal,
      @Nullable TopicRow topic,
      @Nullable ProducerRow known,
      PublishHead head,
      long sequence,
      EventBlock events) {
    Refused refused = check(journal, topic, head, events);
    ProducerRow producer = known;
    TopicRow row = topic;
    if (producer == null) {
      if (refused != null && refused.reason() == JournalRefusalReason.NO_JOURNAL) {
        return refused;
      }
      if (!producers.makeRoom()) {
        return refused != null ? refused : tooManyProducers();
      }
      // A topic that was empty may have gone with the producer that made room.
      row = topics.getOrCreate(journal, head.topic());
      producer =
          producers.create(
              journal,
              head.topic(),
              row,
              Keys.producer(journal.number(), row.number, head.producer()));
    }
    if (row == null) {
      throw new IllegalStateException("producer: known without its topic (expected: with it)");
    }
    producers.heard(Keys.producer(journal.number(), row.number, head.producer()), producer);
    if (refused != null) {
      producer.refuse(sequence, events.count(), refused.reason());
      return refused;
    }
    // Its first events may be known already.
    boolean repeated = sequence > head.sequence();
    if (head.delayMillis() > 0) {
      delays.delay(journal, head, sequence, events);
      producer.accept(sequence, events.count(), 0);
      return new Published(0, repeated);
    }
    long position = appender.append(journal, row, head, sequence, events);
    producer.accept(sequence, events.count(), position);
    return new Published(position + events.count() - 1, repeated);
  }

  private Refused tooManyProducers() {
    return full(
        "producers of the shard",
        context.counters.producers,
        context.limits.producers() + ", or one that was not heard for an hour");
  }

  private @Nullable Refused check(
      Journal journal, @Nullable TopicRow topic, PublishHead head, EventBlock events) {
    boolean selected =
        topic == null
            ? TopicTable.isSelected(journal.definition(), head.topic())
            : topic.isSelectedBy(journal.definition(), head.topic());
    if (!selected) {
      return new Refused(
          JournalRefusalReason.NO_JOURNAL,
          "topic: not selected by the filters of " + journal.shown() + " (expected: selected)");
    }
    if (head.expect() == PublishHead.NO_ROOM) {
      return new Refused(
          JournalRefusalReason.STORE_FULL,
          "account of " + journal.shown() + ": no room (expected: less stored)");
    }
    long last = topic == null ? 0 : topic.lastPosition;
    if (head.expect() > 0 && head.expect() - 1 != last) {
      return new Refused(
          JournalRefusalReason.EXPECTATION_FAILED,
          "last position of the topic: "
              + last
              + " in "
              + journal.shown()
              + " (expected: "
              + (head.expect() - 1)
              + ", 0 for none)");
    }
    if (events.maxEventBytes() > ShardLimits.MAX_EVENT_BYTES) {
      return new Refused(
          JournalRefusalReason.EVENT_TOO_LARGE,
          "event: "
              + events.maxEventBytes()
              + " bytes (expected: at most "
              + ShardLimits.MAX_EVENT_BYTES
              + ")");
    }
    return checkRoom(journal, topic, head, events);
  }

  private @Nullable Refused checkRoom(
      Journal journal, @Nullable TopicRow topic, PublishHead head, EventBlock events) {
    JournalCounters counters = journal.counters();
    if ((topic == null || topic.isEmpty()) && counters.topics >= context.limits.topics()) {
      return full("topics of " + journal.shown(), counters.topics, "" + context.limits.topics());
    }
    if (head.delayMillis() > 0) {
      Refused refused = delays.checkRoom(events);
      if (refused != null) {
        return refused;
      }
    }
    if (journal.definition().full() != FullPolicy.REFUSE) {
      return null;
    }
    Retention retention = journal.definition().retention();
    TopicRow replaced = journal.keepsLatest() && topic != null && !topic.isEmpty() ? topic : null;
    long bytes =
        counters.bytes
            + counters.delayedBytes
            + appender.bytesOf(journal.number())
            + events.bytes()
            - (replaced == null ? 0 : replaced.latestBytes);
    if (retention.bytes() > 0 && bytes > retention.bytes()) {
      return full("bytes of " + journal.shown(), bytes, "" + retention.bytes());
    }
    long more = journal.keepsLatest() ? (replaced == null ? 1 : 0) : events.count();
    long count = counters.events + counters.delayed + more;
    if (retention.events() > 0 && count > retention.events()) {
      return full("events of " + journal.shown(), count, "" + retention.events());
    }
    return null;
  }

  static Refused full(String what, long found, String expected) {
    return new Refused(
        JournalRefusalReason.STORE_FULL,
        what + ": " + found + " (expected: at most " + expected + ")");
  }
}
