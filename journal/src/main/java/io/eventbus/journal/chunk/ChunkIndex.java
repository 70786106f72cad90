package io.eventbus.journal.chunk;

import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.LongPredicate;

/**
 * Index row of a chunk. Immutable.
 *
 * <p>The row's value is a sequence of Avro's integers: the number of the format, positions covered,
 * events, bytes, first stamp, last stamp less the first, number of topics, then each topic less the
 * one before it.
 */
public final class ChunkIndex {
  private static final int FORMAT = 1;

  private final long firstPosition;
  private final int positions;
  private final int events;
  private final int bytes;
  private final long firstStamp;
  private final long lastStamp;
  private final long[] topics;

  /** Creates an index; the topics are sorted, each is there once, and the array is not copied. */
  ChunkIndex(
      long firstPosition,
      int positions,
      int events,
      int bytes,
      long firstStamp,
      long lastStamp,
      long[] topics) {
    this.firstPosition = firstPosition;
    this.positions = positions;
    this.events = events;
    this.bytes = bytes;
    this.firstStamp = firstStamp;
    this.lastStamp = lastStamp;
    this.topics = topics;
  }

  /**
   * Reads the value of a row.
   *
   * @param firstPosition the position in the row's key
   * @throws ChunkFormatException if it is not as it was written
   */
  public static ChunkIndex decode(long firstPosition, byte[] value) throws ChunkFormatException {
    BodyReader in = new BodyReader().wrap(ByteBuffer.wrap(value), 0, value.length);
    try {
      return decode(firstPosition, in, value.length);
    } catch (MalformedFrameException e) {
      throw new ChunkFormatException(
          "index of the chunk at position " + firstPosition + ": " + e.getMessage(), e);
    }
  }

  private static ChunkIndex decode(long firstPosition, BodyReader in, int end) {
    int format = in.readCount("format");
    if (format != FORMAT) {
      throw in.malformed("format", 0, format, "" + FORMAT);
    }
    int positions = in.readCount("positions");
    if (positions < 1 || firstPosition < 1 || firstPosition > Long.MAX_VALUE - positions) {
      throw in.malformed(
          "positions", 1, positions + " from " + firstPosition, "at least 1, from 1 on");
    }
    int events = in.readCount("events");
    int bytes = in.readCount("bytes");
    long firstStamp = in.readLong("firstStamp");
    long lastStamp = firstStamp + in.readCount("lastStamp");
    // A topic takes at least a byte: no allocation beyond what the row can hold.
    long[] topics = new long[in.readLength("topics", positions)];
    long topic = 0;
    for (int i = 0; i < topics.length; i++) {
      topic += in.readLong("topic");
      topics[i] = topic;
    }
    if (!in.atEnd()) {
      throw in.malformed("topics", in.position(), (end - in.position()) + " bytes more", "the end");
    }
    return new ChunkIndex(firstPosition, positions, events, bytes, firstStamp, lastStamp, topics);
  }

  /** Returns the index of a chunk that a view has read; the view is at its end then. */
  public static ChunkIndex of(ChunkView chunk) {
    SortedSet<Long> topics = new TreeSet<>();
    int events = 0;
    chunk.rewind();
    while (chunk.next()) {
      topics.add(chunk.topic());
      events += chunk.events();
    }
    return new ChunkIndex(
        chunk.firstPosition(),
        (int) (chunk.lastPosition() - chunk.firstPosition() + 1),
        events,
        chunk.bytes(),
        chunk.stamp(),
        chunk.stamp(),
        topics.stream().mapToLong(topic -> topic).toArray());
  }

  /** Returns the value of the row. */
  public byte[] encode() {
    ByteBuffer out = ByteBuffer.allocate(Varint.MAX_BYTES * (7 + topics.length));
    Varint.write(out, FORMAT);
    Varint.write(out, positions);
    Varint.write(out, events);
    Varint.write(out, bytes);
    Varint.write(out, firstStamp);
    Varint.write(out, lastStamp - firstStamp);
    Varint.write(out, topics.length);
    long before = 0;
    for (long topic : topics) {
      Varint.write(out, topic - before);
      before = topic;
    }
    return Arrays.copyOf(out.array(), out.position());
  }

  /** Returns the first position that the chunk covers. */
  public long firstPosition() {
    return firstPosition;
  }

  /** Returns the last position that the chunk covers. */
  public long lastPosition() {
    return firstPosition + positions - 1;
  }

  /** Returns the number of events, which is less than that of positions after a purge. */
  public int events() {
    return events;
  }

  /** Returns the size of the chunk in bytes. */
  public int bytes() {
    return bytes;
  }

  /** Returns the time of the shard at the first event, in milliseconds. */
  public long firstStamp() {
    return firstStamp;
  }

  /** Returns the time of the shard at the last event, in milliseconds. */
  public long lastStamp() {
    return lastStamp;
  }

  /** Returns the numbers of the topics of its events, ascending. */
  public long[] topics() {
    return topics.clone();
  }

  /** Returns whether the chunk has events of a topic that is wanted. */
  public boolean hasAny(LongPredicate wanted) {
    for (long topic : topics) {
      if (wanted.test(topic)) {
        return true;
      }
    }
    return false;
  }
}
