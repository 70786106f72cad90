package io.eventbus.journal.state;

import io.eventbus.journal.JournalDefinition;
import io.eventbus.protocol.Topic;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Topics of journals. */
final class TopicTable {
  private final ShardContext context;

  TopicTable(ShardContext context) {
    this.context = context;
  }

  @Nullable TopicRow get(Journal journal, byte[] name) {
    return context.cache.get(
        context.rows, Keys.topic(journal.number(), name), TopicRow.class, TopicRow::decode);
  }

  /** Returns the name of a topic that was there before this entry; null if there is none. */
  byte @Nullable [] name(Journal journal, long topic) {
    return context.rows.get(Keys.topicName(journal.number(), topic));
  }

  TopicRow getOrCreate(Journal journal, byte[] name) {
    TopicRow topic = get(journal, name);
    if (topic == null) {
      JournalCounters counters = journal.counters();
      topic = new TopicRow(++counters.lastTopic, counters.sequenceFloor);
      context.changed(journal);
      context.rows.put(Keys.topicName(journal.number(), topic.number), name);
      changed(journal, name, topic);
    }
    return topic;
  }

  void changed(Journal journal, byte[] name, TopicRow topic) {
    context.cache.put(Keys.topic(journal.number(), name), topic);
  }

  /** Takes note that the last event of a topic is gone. */
  void empty(Journal journal, byte[] name, TopicRow topic) {
    topic.lastPosition = 0;
    topic.latestBytes = 0;
    journal.counters().topics--;
    context.changed(journal);
    changed(journal, name, topic);
    deleteIfUnused(journal, name, topic);
  }

  /** Deletes a topic that has neither events nor producers. */
  void deleteIfUnused(Journal journal, byte[] name, TopicRow topic) {
    if (!topic.isEmpty() || topic.producers > 0) {
      return;
    }
    JournalCounters counters = journal.counters();
    counters.sequenceFloor = Math.max(counters.sequenceFloor, topic.lastSequence);
    context.changed(journal);
    context.cache.delete(Keys.topic(journal.number(), name));
    context.rows.delete(Keys.topicName(journal.number(), topic.number));
  }

  /** Returns whether a definition selects a topic, which may be no legal one. */
  static boolean isSelected(JournalDefinition definition, byte[] name) {
    String topic = new String(name, StandardCharsets.UTF_8);
    return Topic.problem(topic) == null && definition.selects(topic);
  }
}
