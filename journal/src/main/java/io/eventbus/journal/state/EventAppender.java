package io.eventbus.journal.state;

import io.eventbus.journal.PublishHead;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.chunk.ChunkWriter;
import io.eventbus.journal.chunk.FrameHead;
import io.eventbus.journal.codec.EventBlock;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Appender of events to journals: each gets its position at once. Chunks are written at the end of
 * the entry, one journal after the other; events that replace others, at once.
 */
final class EventAppender {
  private record Appended(FrameHead head, EventBlock events) {}

  private static final class Batch {
    final Journal journal;
    final long firstPosition;
    final List<Appended> appended = new ArrayList<>();
    long bytes;

    Batch(Journal journal) {
      this.journal = journal;
      this.firstPosition = journal.counters().lastPosition + 1;
    }
  }

  private final ShardContext context;
  private final TopicTable topics;
  private final SharedWriter shared;
  private final Map<Integer, Batch> batches = new LinkedHashMap<>();

  EventAppender(ShardContext context, TopicTable topics, SharedWriter shared) {
    this.context = context;
    this.topics = topics;
    this.shared = shared;
  }

  /** Returns the size of the events that this entry has given to a journal, in bytes. */
  long bytesOf(int number) {
    Batch batch = batches.get(number);
    return batch == null ? 0 : batch.bytes;
  }

  /**
   * Appends events.
   *
   * @param sequence the number of the first of them, at least that of the head
   * @return the position of the first
   */
  long append(Journal to, TopicRow topic, PublishHead head, long sequence, EventBlock events) {
    JournalCounters counters = to.counters();
    Batch batch =
        to.keepsLatest() ? null : batches.computeIfAbsent(to.number(), n -> new Batch(to));
    long position = counters.lastPosition + 1;
    long expiry = head.ttlMillis() == 0 ? 0 : context.stamp + head.ttlMillis();
    FrameHead frame =
        new FrameHead(
            topic.number,
            head.topic(),
            topic.lastSequence + 1,
            head.schema(),
            head.receivedAt(),
            head.originProducer(),
            head.originOf(sequence),
            expiry);
    if (topic.isEmpty()) {
      counters.topics++;
      counters.events += to.keepsLatest() ? 1 : 0;
    }
    counters.lastPosition += events.count();
    topic.lastSequence += to.keepsLatest() ? 1 : events.count();
    if (batch == null) {
      replaceLatest(to, topic, frame, events);
    } else {
      batch.appended.add(new Appended(frame, events));
      batch.bytes += events.bytes();
      counters.events += events.count();
    }
    topic.lastPosition = counters.lastPosition;
    topics.changed(to, head.topic(), topic);
    context.changed(to);
    return position;
  }

  private void replaceLatest(Journal to, TopicRow topic, FrameHead frame, EventBlock events) {
    int before = events.count() - 1;
    EventBlock last = before == 0 ? events : events.without(before);
    if (!topic.isEmpty()) {
      context.rows.delete(Keys.latestPosition(to.number(), topic.lastPosition));
    }
    long position = to.counters().lastPosition;
    context.rows.put(Keys.latestPosition(to.number(), position), Keys.topicValue(topic.number));
    ChunkWriter writer = shared.to((chunk, index) -> storeLatest(to, topic, chunk, index));
    writer.begin(to.number(), position, context.stamp);
    write(
        writer,
        new FrameHead(
            frame.topic(),
            frame.topicName(),
            frame.sequence(),
            frame.schema(),
            frame.receivedAt(),
            frame.originProducer(),
            frame.originSequence() + before,
            frame.expiry()),
        last);
    writer.end();
  }

  private void storeLatest(Journal to, TopicRow topic, ByteBuffer chunk, ChunkIndex index) {
    context.rows.put(Keys.latest(to.number(), topic.number), chunk);
    context.keep(to.number(), chunk, index);
    to.counters().bytes += index.bytes() - topic.latestBytes;
    topic.latestBytes = index.bytes();
  }

  /** Writes the chunks of all journals. */
  void end() {
    for (Batch batch : batches.values()) {
      Journal journal = batch.journal;
      ChunkWriter writer =
          shared.to(
              (chunk, index) -> {
                context.writeChunk(journal.number(), chunk, index);
                journal.counters().bytes += index.bytes();
              });
      writer.begin(journal.number(), batch.firstPosition, context.stamp);
      for (Appended appended : batch.appended) {
        write(writer, appended.head(), appended.events());
      }
      writer.end();
    }
    batches.clear();
  }

  private static void write(ChunkWriter writer, FrameHead head, EventBlock events) {
    writer.append(head, events.count(), events.buffer(), events.from(), events.to());
  }
}
