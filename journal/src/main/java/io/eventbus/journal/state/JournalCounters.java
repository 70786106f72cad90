package io.eventbus.journal.state;

import io.eventbus.protocol.BodyReader;

/** Counters of a journal. For one thread. */
public final class JournalCounters implements Row {
  private static final int FORMAT = 1;
  private static final int MEMORY_BYTES = 120;

  long firstPosition = 1;
  long lastPosition;
  long events;
  long bytes;
  long topics;
  long producers;
  long delayed;
  long delayedBytes;
  // No event that waits is due before this time: a release does not look at what is gone.
  long delayedFrom;
  long cursors;
  long lastTopic;
  long lastEpoch;

  /**
   * The last number of an event in those topics that are forgotten. A topic that comes again goes
   * on behind it, so that no reader takes its events for repetitions.
   */
  long sequenceFloor;

  JournalCounters() {}

  /**
   * Reads the value of a row.
   *
   * @throws io.eventbus.protocol.MalformedFrameException if it is not as it was written
   */
  public static JournalCounters decode(byte[] value) {
    BodyReader in = RowFormat.reader(value, FORMAT);
    JournalCounters counters = new JournalCounters();
    counters.firstPosition = in.readLong("firstPosition");
    counters.lastPosition = in.readLong("lastPosition");
    counters.events = in.readLong("events");
    counters.bytes = in.readLong("bytes");
    counters.topics = in.readLong("topics");
    counters.producers = in.readLong("producers");
    counters.delayed = in.readLong("delayed");
    counters.delayedBytes = in.readLong("delayedBytes");
    counters.delayedFrom = in.readLong("delayedFrom");
    counters.cursors = in.readLong("cursors");
    counters.lastTopic = in.readLong("lastTopic");
    counters.lastEpoch = in.readLong("lastEpoch");
    counters.sequenceFloor = in.readLong("sequenceFloor");
    RowFormat.checkEnd(in, value);
    return counters;
  }

  @Override
  public byte[] encode() {
    return RowFormat.ofNumbers(
        FORMAT,
        firstPosition,
        lastPosition,
        events,
        bytes,
        topics,
        producers,
        delayed,
        delayedBytes,
        delayedFrom,
        cursors,
        lastTopic,
        lastEpoch,
        sequenceFloor);
  }

  @Override
  public int memoryBytes() {
    return MEMORY_BYTES;
  }

  /** Returns the first position that was not trimmed, 1 or more. */
  public long firstPosition() {
    return firstPosition;
  }

  /** Returns the last position that an event got, 0 before the first. */
  public long lastPosition() {
    return lastPosition;
  }

  /** Returns how many events are kept. */
  public long events() {
    return events;
  }

  /** Returns what the kept events take in the store, in bytes. */
  public long bytes() {
    return bytes;
  }

  /** Returns how many topics have a last event that was not trimmed. */
  public long topics() {
    return topics;
  }

  /** Returns how many producers are known, each counted in each of its topics. */
  public long producers() {
    return producers;
  }

  /** Returns how many events wait for their time. */
  public long delayed() {
    return delayed;
  }

  /** Returns what the events that wait take, in bytes. */
  public long delayedBytes() {
    return delayedBytes;
  }

  /** Returns a time before which no event that waits is due, in milliseconds. */
  public long delayedFrom() {
    return delayedFrom;
  }

  /** Returns how many cursors there are. */
  public long cursors() {
    return cursors;
  }
}
