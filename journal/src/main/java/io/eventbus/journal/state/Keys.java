package io.eventbus.journal.state;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Keys of the rows of a shard. The first byte says what the row is; integers are big-endian, so
 * that the order of keys is that of numbers. All of them are at least 0.
 */
public final class Keys {
  /** Rows that only the store writes: its identity, and what it has applied. */
  public static final byte META = 0;

  /** Definition of a journal, by its number. */
  public static final byte JOURNAL = 1;

  /** Number of a journal, by its name. */
  public static final byte JOURNAL_NAME = 2;

  /** Number and last event of a topic, by journal and name. */
  public static final byte TOPIC = 3;

  /** Name of a topic, by journal and number. */
  public static final byte TOPIC_NAME = 4;

  /** Chunk of events, by journal and first position. */
  public static final byte CHUNK = 5;

  /** Index of a chunk, by journal and first position. */
  public static final byte CHUNK_INDEX = 6;

  /** Numbers of the events of a producer, by journal, topic and the producer's key. */
  public static final byte PRODUCER = 7;

  /**
   * Last event of a topic, by journal and topic, in a journal that keeps no others: a chunk that
   * has this event only.
   */
  public static final byte LATEST = 8;

  /**
   * Number of the topic whose last event has this position, by journal and position. In a journal
   * that keeps all events, only of last events that were purged.
   */
  public static final byte LATEST_POSITION = 9;

  /** Cursor of a durable subscription, by journal and name. */
  public static final byte CURSOR = 10;

  /** Events that are not due yet, by journal, due time and the order in which they came. */
  public static final byte DELAYED = 11;

  /** Empty row by the time at which a producer was last heard, and the key of its row. */
  public static final byte PRODUCER_IDLE = 12;

  /** Counters of the shard; a single row. */
  public static final byte SHARD = 13;

  /** Counters of a journal, by its number. */
  public static final byte JOURNAL_COUNTERS = 14;

  /** Consumer of a shared cursor, by journal, number of the cursor and epoch. */
  public static final byte CONSUMER = 15;

  /**
   * Events of a shared cursor that were given back, by journal, number of the cursor, due time and
   * first position.
   */
  public static final byte WAITING = 16;

  /** Dead event of a shared cursor, by journal, number of the cursor and position. */
  public static final byte DEAD = 17;

  private static final int JOURNAL_BYTES = 1 + Integer.BYTES;
  private static final int NUMBER_BYTES = JOURNAL_BYTES + Long.BYTES;

  private Keys() {}

  /** Returns the key of the shard's counters. */
  public static byte[] shard() {
    return new byte[] {SHARD};
  }

  /** Returns the key of a journal's definition. */
  public static byte[] journal(int journal) {
    return ofJournal(JOURNAL, journal, 0).array();
  }

  /** Returns the key of a journal's counters. */
  public static byte[] journalCounters(int journal) {
    return ofJournal(JOURNAL_COUNTERS, journal, 0).array();
  }

  /** Returns the key of the number of the journal with this name. */
  public static byte[] journalName(String name) {
    byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(1 + utf8.length).put(JOURNAL_NAME).put(utf8).array();
  }

  /** Returns the key of a topic, whose name is given in UTF-8. */
  public static byte[] topic(int journal, byte[] name) {
    return ofJournal(TOPIC, journal, name.length).put(name).array();
  }

  /** Returns the key of the name of a topic. */
  public static byte[] topicName(int journal, long topic) {
    return ofNumber(TOPIC_NAME, journal, topic);
  }

  /** Returns the key of the chunk that begins at a position. */
  public static byte[] chunk(int journal, long position) {
    return ofNumber(CHUNK, journal, position);
  }

  /** Returns the key of the index of the chunk that begins at a position. */
  public static byte[] chunkIndex(int journal, long position) {
    return ofNumber(CHUNK_INDEX, journal, position);
  }

  /** Returns the key of the numbers of a producer in a topic. */
  public static byte[] producer(int journal, long topic, byte[] producer) {
    return ofJournal(PRODUCER, journal, Long.BYTES + producer.length)
        .putLong(topic)
        .put(producer)
        .array();
  }

  /** Returns the first key of the producers of a topic. */
  public static byte[] producersOf(int journal, long topic) {
    return ofNumber(PRODUCER, journal, topic);
  }

  /** Returns the key of the last event of a topic. */
  public static byte[] latest(int journal, long topic) {
    return ofNumber(LATEST, journal, topic);
  }

  /** Returns the key of the number of the topic whose last event has this position. */
  public static byte[] latestPosition(int journal, long position) {
    return ofNumber(LATEST_POSITION, journal, position);
  }

  /** Returns the key of a cursor. */
  public static byte[] cursor(int journal, String name) {
    byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
    return ofJournal(CURSOR, journal, utf8.length).put(utf8).array();
  }

  /** Returns the key of events that are due at a time, in milliseconds. */
  public static byte[] delayed(int journal, long due, long serial) {
    return ofJournal(DELAYED, journal, 2 * Long.BYTES).putLong(due).putLong(serial).array();
  }

  /** Returns the first key of the events that are due at a time or later. */
  public static byte[] delayedFrom(int journal, long due) {
    return ofNumber(DELAYED, journal, due);
  }

  /** Returns the key of a consumer of a shared cursor. */
  public static byte[] consumer(int journal, long cursor, long epoch) {
    return ofCursor(CONSUMER, journal, cursor, epoch);
  }

  /** Returns the key of events of a shared cursor that were given back. */
  public static byte[] waiting(int journal, long cursor, long due, long from) {
    return ofJournal(WAITING, journal, 3 * Long.BYTES)
        .putLong(cursor)
        .putLong(due)
        .putLong(from)
        .array();
  }

  /** Returns the first key of the events of a shared cursor that are due at a time or later. */
  public static byte[] waitingFrom(int journal, long cursor, long due) {
    return ofCursor(WAITING, journal, cursor, due);
  }

  /** Returns the key of a dead letter of a shared cursor. */
  public static byte[] dead(int journal, long cursor, long position) {
    return ofCursor(DEAD, journal, cursor, position);
  }

  /** Returns the first key of a kind of a cursor's rows. */
  public static byte[] first(byte kind, int journal, long cursor) {
    return ofNumber(kind, journal, cursor);
  }

  /** Returns the first key after all of a kind of a cursor's rows. */
  public static byte[] end(byte kind, int journal, long cursor) {
    return ofNumber(kind, journal, cursor + 1);
  }

  /** Returns the key by which a producer is found that was last heard at a time. */
  static byte[] producerIdle(long stamp, byte[] producerKey) {
    return ByteBuffer.allocate(NUMBER_BYTES - Integer.BYTES + producerKey.length)
        .put(PRODUCER_IDLE)
        .putLong(stamp)
        .put(producerKey)
        .array();
  }

  /** Returns the first key of the producers that were last heard at a time or later. */
  static byte[] producerIdleFrom(long stamp) {
    return producerIdle(stamp, new byte[0]);
  }

  /** Returns the first key of a journal's rows of a kind. */
  public static byte[] first(byte kind, int journal) {
    return ofJournal(kind, journal, 0).array();
  }

  /** Returns the first key after all of a journal's rows of a kind. */
  public static byte[] end(byte kind, int journal) {
    return journal == Integer.MAX_VALUE ? new byte[] {(byte) (kind + 1)} : first(kind, journal + 1);
  }

  /** Returns the number behind the journal in a key: a position, a topic, a cursor, a due time. */
  public static long number(byte[] key) {
    return ByteBuffer.wrap(key).getLong(JOURNAL_BYTES);
  }

  /** Returns the due time in the key of events of a shared cursor that were given back. */
  static long due(byte[] key) {
    return ByteBuffer.wrap(key).getLong(NUMBER_BYTES);
  }

  /** Returns the number at the end of a key of a cursor's row: an epoch or a position. */
  public static long lastNumber(byte[] key) {
    return ByteBuffer.wrap(key).getLong(key.length - Long.BYTES);
  }

  /** Returns the name behind the journal in a key, in UTF-8. */
  public static byte[] name(byte[] key) {
    return Arrays.copyOfRange(key, JOURNAL_BYTES, key.length);
  }

  /** Returns the value of a row that leads to a topic. */
  static byte[] topicValue(long topic) {
    return ByteBuffer.allocate(Long.BYTES).putLong(topic).array();
  }

  /** Returns the topic to which the value of a row of {@link #LATEST_POSITION} leads. */
  public static long topicOf(byte[] value) {
    return ByteBuffer.wrap(value).getLong();
  }

  /** Returns the journal in a key of a journal's row. */
  public static int journalOf(byte[] key) {
    return ByteBuffer.wrap(key).getInt(1);
  }

  private static byte[] ofNumber(byte kind, int journal, long number) {
    return ofJournal(kind, journal, Long.BYTES).putLong(number).array();
  }

  private static byte[] ofCursor(byte kind, int journal, long cursor, long number) {
    return ofJournal(kind, journal, 2 * Long.BYTES).putLong(cursor).putLong(number).array();
  }

  private static ByteBuffer ofJournal(byte kind, int journal, int more) {
    return ByteBuffer.allocate(JOURNAL_BYTES + more).put(kind).putInt(journal);
  }
}
