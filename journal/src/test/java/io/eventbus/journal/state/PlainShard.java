package io.eventbus.journal.state;

import io.eventbus.journal.CursorStart;
import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.chunk.TestEvents;
import io.eventbus.journal.codec.EventBlock;
import io.eventbus.journal.codec.ShardRecord.AttachCursor;
import io.eventbus.journal.codec.ShardRecord.CreateCursor;
import io.eventbus.journal.codec.ShardRecord.DeleteCursor;
import io.eventbus.journal.codec.ShardRecord.DetachCursor;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.SettleCursor;
import io.eventbus.journal.state.ShardFixture.StoredEvent;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TopicFilter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Model of a shard in lists, which forgets nothing that it need not forget. */
final class PlainShard {
  /** Answer in short: what was refused, or numbers. */
  record Answer(@Nullable JournalRefusalReason refused, long first, long second) {
    static Answer of(long first, long second) {
      return new Answer(null, first, second);
    }

    static Answer no(JournalRefusalReason reason) {
      return new Answer(reason, 0, 0);
    }
  }

  private record Frame(long first, long last, long position, @Nullable JournalRefusalReason no) {}

  private static final class PlainProducer {
    final byte[] key;
    long heard;
    long last;
    final List<Frame> frames = new ArrayList<>();
    final TreeSet<Long> accepted = new TreeSet<>();

    PlainProducer(byte[] key) {
      this.key = key;
    }

    /** Returns whether numbers lie in one of the last eight runs of accepted numbers. */
    boolean knows(long from, long to) {
      List<long[]> runs = new ArrayList<>();
      for (long number : accepted) {
        if (!runs.isEmpty() && runs.get(runs.size() - 1)[1] == number - 1) {
          runs.get(runs.size() - 1)[1] = number;
        } else {
          runs.add(new long[] {number, number});
        }
      }
      for (long[] run : runs.subList(Math.max(0, runs.size() - 8), runs.size())) {
        if (run[0] <= from && to <= run[1]) {
          return true;
        }
      }
      return false;
    }

    List<Frame> lastFrames() {
      return frames.subList(Math.max(0, frames.size() - 8), frames.size());
    }
  }

  private static final class PlainTopic {
    final long number;
    long lastPosition;
    long lastSequence;
    final Map<String, PlainProducer> producers = new TreeMap<>();

    PlainTopic(long number, long lastSequence) {
      this.number = number;
      this.lastSequence = lastSequence;
    }
  }

  private record Delayed(long due, long serial, Publish publish, long sequence, EventBlock events) {
    private static final Comparator<Delayed> ORDER =
        Comparator.comparingLong(Delayed::due).thenComparingLong(Delayed::serial);
  }

  private record PlainCursor(TopicFilter filter, long floor, long epoch, String owner) {}

  static final class PlainJournal {
    JournalDefinition definition;
    long firstPosition = 1;
    long lastPosition;
    long storedBytes;
    long bytesOfEntry;
    long lastTopic;
    long sequenceFloor;
    long lastEpoch;
    final NavigableMap<Long, StoredEvent> events = new TreeMap<>();
    final Map<String, PlainTopic> topics = new TreeMap<>();
    final TreeSet<Delayed> delayed = new TreeSet<>(Delayed.ORDER);
    private final Map<String, PlainCursor> cursors = new TreeMap<>();

    PlainJournal(JournalDefinition definition) {
      this.definition = definition;
    }

    /** Returns the owner, the epoch and the floor of each cursor. */
    Map<String, String> cursors() {
      Map<String, String> all = new TreeMap<>();
      cursors.forEach(
          (name, cursor) -> all.put(name, cursor.owner + " " + cursor.epoch + " " + cursor.floor));
      return all;
    }

    boolean keepsLatest() {
      return definition.keep() == KeepPolicy.LATEST;
    }

    long delayedEvents() {
      return delayed.stream().mapToLong(d -> d.events.count()).sum();
    }

    long delayedBytes() {
      return delayed.stream().mapToLong(d -> d.events.bytes()).sum();
    }

    long liveTopics() {
      return topics.values().stream().filter(topic -> topic.lastPosition > 0).count();
    }

    long producers() {
      return topics.values().stream().mapToLong(topic -> topic.producers.size()).sum();
    }
  }

  private final ShardLimits limits;
  final Map<Integer, PlainJournal> journals = new TreeMap<>();
  private int lastJournal;
  private long serial;
  long stamp;

  PlainShard(ShardLimits limits) {
    this.limits = limits;
  }

  void begin(long entryStamp) {
    stamp = Math.max(stamp, entryStamp);
  }

  Answer create(JournalDefinition definition) {
    for (Map.Entry<Integer, PlainJournal> each : journals.entrySet()) {
      if (each.getValue().definition.name().equals(definition.name())) {
        return each.getValue().definition.equals(definition)
            ? Answer.of(each.getKey(), 0)
            : Answer.no(JournalRefusalReason.JOURNAL_EXISTS);
      }
    }
    if (journals.size() == limits.journals()) {
      return Answer.no(JournalRefusalReason.STORE_FULL);
    }
    journals.put(++lastJournal, new PlainJournal(definition));
    return Answer.of(lastJournal, 0);
  }

  Answer change(int number, JournalDefinition definition) {
    PlainJournal journal = journals.get(number);
    if (journal == null) {
      return Answer.no(JournalRefusalReason.NO_JOURNAL);
    }
    if (!journal.definition.name().equals(definition.name())
        || journal.definition.keep() != definition.keep()) {
      return Answer.no(JournalRefusalReason.NOT_CHANGEABLE);
    }
    journal.definition = definition;
    return Answer.of(0, 0);
  }

  Answer delete(int number) {
    return journals.remove(number) == null
        ? Answer.no(JournalRefusalReason.NO_JOURNAL)
        : Answer.of(0, 0);
  }

  Answer publish(Publish record) {
    PublishHead head = record.head();
    PlainJournal journal = journals.get(head.journal());
    if (journal == null) {
      return Answer.no(JournalRefusalReason.NO_JOURNAL);
    }
    String name = new String(head.topic(), StandardCharsets.UTF_8);
    String producerName = new String(head.producer(), StandardCharsets.UTF_8);
    PlainTopic topic = journal.topics.get(name);
    PlainProducer producer = topic == null ? null : topic.producers.get(producerName);
    EventBlock events = record.events();
    long first = head.sequence();
    long last = first + events.count() - 1;
    if (producer != null) {
      if (last <= producer.last) {
        return repeat(producer, first, last);
      }
      if (first <= producer.last) {
        if (!producer.knows(first, producer.last)) {
          return Answer.no(JournalRefusalReason.SEQUENCE_GAP);
        }
        events = events.without((int) (producer.last + 1 - first));
        first = producer.last + 1;
      } else if (first > producer.last + 1
          && head.previous() != -1
          && head.previous() > producer.last) {
        return Answer.no(JournalRefusalReason.SEQUENCE_GAP);
      }
    }
    JournalRefusalReason no = refusal(journal, topic, name, head, events);
    if (producer == null) {
      if (no == JournalRefusalReason.NO_JOURNAL) {
        return Answer.no(no);
      }
      if (producers() >= limits.producers() && !forgetOldest()) {
        return Answer.no(no == null ? JournalRefusalReason.STORE_FULL : no);
      }
      topic = topic(journal, name);
      byte[] key = Keys.producer(head.journal(), topic.number, head.producer());
      producer = new PlainProducer(key);
      topic.producers.put(producerName, producer);
    }
    if (topic == null) {
      throw new AssertionError("producer without topic");
    }
    producer.heard = stamp;
    producer.last = last;
    if (no != null) {
      producer.frames.add(new Frame(first, last, 0, no));
      return Answer.no(no);
    }
    for (long number = first; number <= last; number++) {
      producer.accepted.add(number);
    }
    if (head.delayMillis() > 0) {
      journal.delayed.add(new Delayed(stamp + head.delayMillis(), ++serial, record, first, events));
      producer.frames.add(new Frame(first, last, 0, null));
      return Answer.of(0, first > head.sequence() ? 1 : 0);
    }
    long position = append(journal, topic, name, head, first, events);
    producer.frames.add(new Frame(first, last, position, null));
    return Answer.of(journal.lastPosition, first > head.sequence() ? 1 : 0);
  }

  private Answer repeat(PlainProducer producer, long first, long last) {
    for (Frame frame : producer.lastFrames()) {
      if (frame.no != null && frame.first <= first && last <= frame.last) {
        producer.heard = stamp;
        return Answer.no(frame.no);
      }
    }
    if (!producer.knows(first, last)) {
      return Answer.no(JournalRefusalReason.SEQUENCE_GAP);
    }
    producer.heard = stamp;
    for (Frame frame : producer.lastFrames()) {
      if (frame.position > 0 && frame.first <= last && last <= frame.last) {
        return Answer.of(frame.position + last - frame.first, 1);
      }
    }
    return Answer.of(0, 1);
  }

  private @Nullable JournalRefusalReason refusal(
      PlainJournal journal,
      @Nullable PlainTopic topic,
      String name,
      PublishHead head,
      EventBlock events) {
    if (!journal.definition.selects(name)) {
      return JournalRefusalReason.NO_JOURNAL;
    }
    long last = topic == null ? 0 : topic.lastPosition;
    if (head.expect() != 0 && head.expect() != last + 1) {
      return JournalRefusalReason.EXPECTATION_FAILED;
    }
    boolean full = last == 0 && journal.liveTopics() >= limits.topics();
    if (head.delayMillis() > 0) {
      long waiting = 0;
      long bytes = 0;
      for (PlainJournal each : journals.values()) {
        waiting += each.delayedEvents();
        bytes += each.delayedBytes();
      }
      full |= waiting + events.count() > limits.delayed();
      full |= bytes + events.bytes() > limits.delayedBytes();
    }
    if (journal.definition.full() == FullPolicy.REFUSE) {
      long max = journal.definition.retention().events();
      boolean replaces = journal.keepsLatest() && last > 0;
      long more = journal.keepsLatest() ? (replaces ? 0 : 1) : events.count();
      full |= max > 0 && journal.events.size() + journal.delayedEvents() + more > max;
      long maxBytes = journal.definition.retention().bytes();
      full |=
          maxBytes > 0
              && !journal.keepsLatest()
              && journal.storedBytes
                      + journal.bytesOfEntry
                      + journal.delayedBytes()
                      + events.bytes()
                  > maxBytes;
    }
    return full ? JournalRefusalReason.STORE_FULL : null;
  }

  private PlainTopic topic(PlainJournal journal, String name) {
    return journal.topics.computeIfAbsent(
        name, n -> new PlainTopic(++journal.lastTopic, journal.sequenceFloor));
  }

  private long append(
      PlainJournal journal,
      PlainTopic topic,
      String name,
      PublishHead head,
      long sequence,
      EventBlock events) {
    ByteBuffer array = ByteBuffer.allocate(events.size());
    events.write(array);
    List<Long> numbers =
        TestEvents.numbers(
            new EventCursor().wrap(array.flip(), 0, array.limit(), FrameLimits.UNLIMITED));
    long first = journal.lastPosition + 1;
    long expiry = head.ttlMillis() == 0 ? 0 : stamp + head.ttlMillis();
    for (int i = 0; i < numbers.size(); i++) {
      journal.lastPosition++;
      if (journal.keepsLatest()) {
        journal.events.values().removeIf(event -> event.topic().equals(name));
      }
      if (!journal.keepsLatest() || i == 0) {
        topic.lastSequence++;
      }
      journal.events.put(
          journal.lastPosition,
          new StoredEvent(
              journal.lastPosition,
              name,
              topic.lastSequence,
              head.originOf(sequence) + i,
              expiry,
              numbers.get(i)));
    }
    journal.bytesOfEntry += events.bytes();
    topic.lastPosition = journal.lastPosition;
    return first;
  }

  long producers() {
    return journals.values().stream().mapToLong(PlainJournal::producers).sum();
  }

  private boolean forgetOldest() {
    return forget(stamp - ShardLimits.MIN_PRODUCER_IDLE_MILLIS, 1) == 1;
  }

  /** Forgets the producers that were idle for the longest time, to the minute. */
  long forget(long upTo, long max) {
    List<PlainProducer> all = new ArrayList<>();
    for (PlainJournal journal : journals.values()) {
      for (PlainTopic topic : journal.topics.values()) {
        all.addAll(topic.producers.values());
      }
    }
    all.sort(
        Comparator.<PlainProducer>comparingLong(producer -> producer.heard / 60_000)
            .thenComparing(producer -> producer.key, Arrays::compareUnsigned));
    long forgotten = 0;
    for (PlainProducer producer : all) {
      if (producer.heard <= upTo && forgotten < max) {
        forgotten++;
        for (PlainJournal journal : journals.values()) {
          for (PlainTopic topic : journal.topics.values()) {
            topic.producers.values().remove(producer);
          }
          dropUnused(journal);
        }
      }
    }
    return forgotten;
  }

  private static void dropUnused(PlainJournal journal) {
    for (PlainTopic topic : List.copyOf(journal.topics.values())) {
      if (topic.lastPosition == 0 && topic.producers.isEmpty()) {
        journal.sequenceFloor = Math.max(journal.sequenceFloor, topic.lastSequence);
        journal.topics.values().remove(topic);
      }
    }
  }

  /** Trims up to before a position, which depends on chunks that this model does not know. */
  void trim(int number, long firstPosition) {
    PlainJournal journal = journals.get(number);
    if (journal == null) {
      throw new AssertionError("trimmed without a journal");
    }
    journal.firstPosition = firstPosition;
    journal.events.headMap(firstPosition).clear();
    for (PlainTopic topic : journal.topics.values()) {
      if (topic.lastPosition < firstPosition) {
        topic.lastPosition = 0;
      }
    }
    dropUnused(journal);
  }

  Answer purge(int number, String topicName, long from, long to) {
    PlainJournal journal = journals.get(number);
    if (journal == null) {
      return Answer.no(JournalRefusalReason.NO_JOURNAL);
    }
    long before = journal.events.size();
    journal
        .events
        .values()
        .removeIf(
            event ->
                event.position() >= from
                    && event.position() <= to
                    && (topicName.isEmpty() || topicName.equals(event.topic())));
    if (journal.keepsLatest()) {
      journal.topics.forEach(
          (name, topic) -> {
            if (!journal.events.containsKey(topic.lastPosition)) {
              topic.lastPosition = 0;
            }
          });
      dropUnused(journal);
    }
    return Answer.of(before - journal.events.size(), 0);
  }

  Answer release(int number, long upTo) {
    PlainJournal journal = journals.get(number);
    if (journal == null) {
      return Answer.no(JournalRefusalReason.NO_JOURNAL);
    }
    long released = 0;
    while (!journal.delayed.isEmpty() && journal.delayed.first().due <= Math.min(upTo, stamp)) {
      Delayed due = journal.delayed.first();
      journal.delayed.remove(due);
      String name = new String(due.publish.head().topic(), StandardCharsets.UTF_8);
      append(journal, topic(journal, name), name, due.publish.head(), due.sequence, due.events);
      released += due.events.count();
    }
    return Answer.of(released, 1);
  }

  Answer createCursor(CreateCursor record) {
    PlainJournal journal = journals.get(record.journal());
    if (journal == null) {
      return Answer.no(JournalRefusalReason.NO_JOURNAL);
    }
    PlainCursor cursor = journal.cursors.get(record.name());
    if (cursor != null) {
      return cursor.filter.equals(record.filter())
          ? Answer.of(cursor.epoch, cursor.floor)
          : Answer.no(JournalRefusalReason.CURSOR_EXISTS);
    }
    if (journal.cursors.size() == limits.cursors()) {
      return Answer.no(JournalRefusalReason.STORE_FULL);
    }
    long floor = journal.lastPosition;
    if (record.start() == CursorStart.FIRST) {
      floor = journal.firstPosition - 1;
    } else if (record.start() == CursorStart.POSITION) {
      if (record.position() > journal.lastPosition + 1) {
        return Answer.no(JournalRefusalReason.NO_POSITION);
      }
      floor = Math.max(record.position() - 1, journal.firstPosition - 1);
    }
    return put(
        journal, record.name(), new PlainCursor(record.filter(), floor, ++journal.lastEpoch, ""));
  }

  private static Answer put(PlainJournal journal, String name, PlainCursor cursor) {
    journal.cursors.put(name, cursor);
    return Answer.of(cursor.epoch, cursor.floor);
  }

  Answer attach(AttachCursor record) {
    PlainJournal journal = journals.get(record.journal());
    PlainCursor cursor = journal == null ? null : journal.cursors.get(record.name());
    if (journal == null || cursor == null) {
      return missing(journal);
    }
    boolean free = cursor.owner.isEmpty() || cursor.owner.equals(record.owner());
    if (!free && record.replaces() != cursor.epoch) {
      return Answer.no(JournalRefusalReason.CURSOR_TAKEN);
    }
    return put(
        journal,
        record.name(),
        new PlainCursor(cursor.filter, cursor.floor, ++journal.lastEpoch, record.owner()));
  }

  Answer detach(DetachCursor record) {
    PlainJournal journal = journals.get(record.journal());
    PlainCursor cursor = journal == null ? null : journal.cursors.get(record.name());
    if (journal == null || cursor == null) {
      return missing(journal);
    }
    if (record.epoch() != cursor.epoch) {
      return Answer.no(JournalRefusalReason.STALE_EPOCH);
    }
    return put(
        journal, record.name(), new PlainCursor(cursor.filter, cursor.floor, cursor.epoch, ""));
  }

  private static Answer missing(@Nullable PlainJournal journal) {
    return Answer.no(
        journal == null ? JournalRefusalReason.NO_JOURNAL : JournalRefusalReason.NO_CURSOR);
  }

  Answer settle(SettleCursor record) {
    PlainJournal journal = journals.get(record.journal());
    PlainCursor cursor = journal == null ? null : journal.cursors.get(record.name());
    if (journal == null || cursor == null) {
      return missing(journal);
    }
    if (cursor.epoch != record.epoch()) {
      return Answer.no(JournalRefusalReason.STALE_EPOCH);
    }
    if (record.upTo() > journal.lastPosition) {
      return Answer.no(JournalRefusalReason.NO_POSITION);
    }
    long floor = Math.max(cursor.floor, record.upTo());
    return put(
        journal, record.name(), new PlainCursor(cursor.filter, floor, cursor.epoch, cursor.owner));
  }

  Answer deleteCursor(DeleteCursor record) {
    PlainJournal journal = journals.get(record.journal());
    PlainCursor cursor = journal == null ? null : journal.cursors.get(record.name());
    if (journal == null || cursor == null) {
      return missing(journal);
    }
    if (record.epoch() != 0 && record.epoch() != cursor.epoch) {
      return Answer.no(JournalRefusalReason.STALE_EPOCH);
    }
    journal.cursors.remove(record.name());
    return Answer.of(0, 0);
  }
}
