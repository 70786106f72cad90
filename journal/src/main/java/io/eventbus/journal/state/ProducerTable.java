package io.eventbus.journal.state;

import io.eventbus.journal.rows.RowScan;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Producers of all journals, and the order in which they are forgotten. */
final class ProducerTable {
  /**
   * Maximum number of rows that an entry looks at to find producers that can be forgotten; part of
   * the rules.
   */
  static final int MAX_SCANNED = 10_000;

  // A producer moves in the order at most once in this time, so that a publication seldom writes
  // there.
  private static final long IDLE_STEP_MILLIS = 60_000;
  private static final int IDLE_HEAD_BYTES = 1 + Long.BYTES;

  private final ShardContext context;
  private final TopicTable topics;
  private byte[] idleFrom;
  private int scanned;
  // Set when a row was passed over that stays.
  private boolean skipped;

  ProducerTable(ShardContext context, TopicTable topics) {
    this.context = context;
    this.topics = topics;
    this.idleFrom = Keys.producerIdleFrom(context.counters.idleFrom);
  }

  @Nullable ProducerRow get(byte[] key) {
    return context.cache.get(context.rows, key, ProducerRow.class, ProducerRow::decode);
  }

  /** Creates a producer; there is room for it. */
  ProducerRow create(Journal journal, byte[] topicName, TopicRow topic, byte[] key) {
    ProducerRow producer = new ProducerRow(context.stamp);
    context.rows.put(idleKey(producer, key), new byte[0]);
    context.counters.producers++;
    journal.counters().producers++;
    context.changed(journal);
    topic.producers++;
    topics.changed(journal, topicName, topic);
    context.cache.put(key, producer);
    return producer;
  }

  /** Takes note that a producer was heard, and that its row has changed. */
  void heard(byte[] key, ProducerRow producer) {
    byte[] before = idleKey(producer, key);
    producer.heard(context.stamp);
    byte[] after = idleKey(producer, key);
    if (!Arrays.equals(before, after)) {
      context.rows.delete(before);
      context.rows.put(after, new byte[0]);
    }
    context.cache.put(key, producer);
  }

  private static byte[] idleKey(ProducerRow producer, byte[] key) {
    return Keys.producerIdle(idleStep(producer), key);
  }

  private static long idleStep(ProducerRow producer) {
    return producer.stamp() - producer.stamp() % IDLE_STEP_MILLIS;
  }

  /**
   * Forgets the producer that was not heard for the longest time, if there are as many as there may
   * be. Returns whether there is room for another.
   */
  boolean makeRoom() {
    if (context.counters.producers < context.limits.producers()) {
      return true;
    }
    return forget(context.stamp - ShardLimits.MIN_PRODUCER_IDLE_MILLIS, 1) == 1;
  }

  /** Returns whether {@link #forget} has looked at as many rows as it may in this entry. */
  boolean isExhausted() {
    return scanned >= MAX_SCANNED;
  }

  /**
   * Forgets producers that were last heard at a time or before it, the longest idle first.
   *
   * @return how many
   */
  int forget(long stamp, int max) {
    int forgotten = 0;
    try (RowScan scan = context.rows.scan(idleFrom, new byte[] {Keys.PRODUCER_IDLE + 1})) {
      while (forgotten < max && !isExhausted() && scan.next()) {
        byte[] idleKey = scan.key();
        long step = ByteBuffer.wrap(idleKey).getLong(1);
        if (!skipped) {
          context.counters.idleFrom = step;
        }
        if (step > stamp) {
          break;
        }
        byte[] key = Arrays.copyOfRange(idleKey, IDLE_HEAD_BYTES, idleKey.length);
        ProducerRow producer = get(key);
        scanned++;
        if (producer != null && producer.stamp() > stamp) {
          // In the order of keys, others of this step may be older.
          skipped = true;
          continue;
        }
        idleFrom = Arrays.copyOf(idleKey, idleKey.length + 1);
        context.rows.delete(idleKey);
        // Null if its journal was deleted.
        if (producer != null) {
          delete(key);
          forgotten++;
        }
      }
    }
    return forgotten;
  }

  private void delete(byte[] key) {
    context.cache.delete(key);
    context.counters.producers--;
    Journal journal = context.journal(Keys.journalOf(key));
    if (journal == null) {
      return;
    }
    journal.counters().producers--;
    context.changed(journal);
    byte[] name = topics.name(journal, Keys.number(key));
    TopicRow topic = name == null ? null : topics.get(journal, name);
    if (name != null && topic != null) {
      topic.producers--;
      topics.changed(journal, name, topic);
      topics.deleteIfUnused(journal, name, topic);
    }
  }
}
