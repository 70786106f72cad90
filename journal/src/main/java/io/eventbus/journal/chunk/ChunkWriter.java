package io.eventbus.journal.chunk;

import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TypeCode;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Writer of the chunks of one journal after the other into a buffer that it uses again. For one
 * thread.
 *
 * <p>{@link #begin}, then any number of {@link #append}, then {@link #end}. Each chunk is given to
 * the sink as soon as it is full.
 */
public final class ChunkWriter {
  /** Maximum size of a chunk of more than one event, in bytes. */
  public static final int MAX_BYTES = 32 * 1024;

  /** Taker of finished chunks. */
  public interface Sink {
    /**
     * Takes a chunk.
     *
     * @param chunk its bytes, from position to limit, in a direct buffer that is valid until this
     *     returns
     * @param index its index row
     */
    void take(ByteBuffer chunk, ChunkIndex index);
  }

  private final Sink sink;
  private final CRC32C crc = new CRC32C();
  private final EventCursor cursor = new EventCursor();
  private ByteBuffer out = ByteBuffer.allocateDirect(MAX_BYTES);
  private int maxBytes = MAX_BYTES;
  private int journal;
  private long stamp;
  private long firstPosition;
  private int positions;
  private int skipped;
  private int events;
  private long[] topics = new long[16];
  private int topicCount;

  /** Creates a writer. */
  public ChunkWriter(Sink sink) {
    this.sink = sink;
  }

  /**
   * Begins with the events of a journal.
   *
   * @param journalNumber the journal
   * @param position the position of the first event
   * @param shardStamp the time of the shard, in milliseconds
   */
  public void begin(int journalNumber, long position, long shardStamp) {
    begin(journalNumber, position, shardStamp, MAX_BYTES);
  }

  /** Begins with a chunk that is not cut, whatever its size. */
  void beginWhole(int journalNumber, long position, long shardStamp) {
    begin(journalNumber, position, shardStamp, Integer.MAX_VALUE);
  }

  private void begin(int journalNumber, long position, long shardStamp, int max) {
    journal = journalNumber;
    stamp = shardStamp;
    maxBytes = max;
    start(position);
  }

  private void start(long position) {
    firstPosition = position;
    positions = 0;
    skipped = 0;
    events = 0;
    topicCount = 0;
    out.clear().position(ChunkFormat.HEAD_BYTES);
  }

  /** Returns the position that the next event gets. */
  public long position() {
    return firstPosition + positions;
  }

  /**
   * Appends events that lie next to each other in a buffer, as the items of an array of Avro.
   *
   * @param head of these events
   * @param count how many they are, at least 1
   * @param buffer the buffer, whose position is not touched
   * @param from index of the first event
   * @param to index after the last one
   */
  public void append(FrameHead head, int count, ByteBuffer buffer, int from, int to) {
    int size = partSize(head, count, to - from);
    if (!fits(size) && positions > 0) {
      end();
    }
    if (fits(size) || count == 1) {
      write(head, count, buffer, from, to);
      return;
    }
    FrameHead rest = head;
    int left = count;
    int at = from;
    cursor.wrap(buffer, from, to, FrameLimits.UNLIMITED);
    while (left > 0) {
      // Lengths and counts of fewer events take no more bytes.
      int room = maxBytes - out.position() - (partSize(rest, left, to - at) - (to - at));
      int taken = 0;
      int end = at;
      while (taken < left) {
        cursor.moveTo(taken, end);
        if (taken > 0 && cursor.eventEnd() - at > room) {
          break;
        }
        taken++;
        end = cursor.eventEnd();
      }
      write(rest, taken, buffer, at, end);
      rest = rest.after(taken);
      left -= taken;
      at = end;
      if (left > 0) {
        end();
      }
    }
  }

  /** Leaves out positions, whose events are not there any more. */
  void skip(int count) {
    positions += count;
    skipped += count;
  }

  /** Appends the part at which a view stands, as it is. */
  void copy(ChunkView view) {
    ByteBuffer chunk = view.chunk();
    int bytes = view.frameEnd() - view.frameStart();
    reserve(6 * Varint.MAX_BYTES + bytes);
    writePartHead(view.topic(), view.expiry(), view.events(), bytes);
    put(chunk, view.frameStart(), view.frameEnd());
  }

  /** Gives the last chunk to the sink, if there is one. */
  public void end() {
    if (positions == 0) {
      return;
    }
    int size = out.position();
    out.put(0, ChunkFormat.FORMAT)
        .putInt(ChunkFormat.JOURNAL_AT, journal)
        .putLong(ChunkFormat.POSITION_AT, firstPosition)
        .putInt(ChunkFormat.COUNT_AT, positions)
        .putLong(ChunkFormat.STAMP_AT, stamp);
    crc.reset();
    crc.update(out.duplicate().limit(size).position(ChunkFormat.CHECKED_FROM));
    out.putInt(ChunkFormat.CHECKSUM_AT, (int) crc.getValue());
    ByteBuffer chunk = out.slice(0, size).asReadOnlyBuffer();
    ChunkIndex index =
        new ChunkIndex(firstPosition, positions, events, size, stamp, stamp, sortedTopics());
    sink.take(chunk, index);
    start(firstPosition + positions);
  }

  private long[] sortedTopics() {
    Arrays.sort(topics, 0, topicCount);
    int distinct = 0;
    for (int i = 0; i < topicCount; i++) {
      if (i == 0 || topics[i] != topics[i - 1]) {
        topics[distinct++] = topics[i];
      }
    }
    return Arrays.copyOf(topics, distinct);
  }

  private boolean fits(int size) {
    return size <= maxBytes - out.position();
  }

  private int partSize(FrameHead head, int count, int bytes) {
    int frame = frameSize(bodySize(head, count, bytes));
    return Varint.size(head.topic())
        + 1
        + Varint.size(head.expiry())
        + Varint.size(skipped)
        + Varint.size(count)
        + Varint.size(frame)
        + frame;
  }

  private static int frameSize(int body) {
    return Varint.size(TypeCode.DELIVER.code()) + Varint.size(body) + body;
  }

  private int bodySize(FrameHead head, int count, int bytes) {
    return Varint.size(head.topicName().length)
        + head.topicName().length
        + Varint.size(journal)
        + Varint.size(head.sequence())
        + Varint.size(head.schema())
        + Varint.size(head.receivedAt())
        + Varint.size(position())
        + Varint.size(-(long) count)
        + Varint.size(bytes)
        + bytes
        + 2
        + Varint.size(head.originProducer())
        + Varint.size(head.originSequence());
  }

  private void write(FrameHead head, int count, ByteBuffer buffer, int from, int to) {
    int body = bodySize(head, count, to - from);
    reserve(partSize(head, count, to - from));
    long position = position();
    writePartHead(head.topic(), head.expiry(), count, frameSize(body));
    Varint.write(out, TypeCode.DELIVER.code());
    Varint.write(out, body);
    Varint.write(out, head.topicName().length);
    out.put(head.topicName());
    Varint.write(out, journal);
    Varint.write(out, head.sequence());
    Varint.write(out, head.schema());
    Varint.write(out, head.receivedAt());
    Varint.write(out, position);
    Varint.write(out, -(long) count);
    Varint.write(out, to - from);
    put(buffer, from, to);
    // The ends of the array of events and of that of groups.
    out.put((byte) 0).put((byte) 0);
    Varint.write(out, head.originProducer());
    Varint.write(out, head.originSequence());
  }

  private void writePartHead(long topic, long expiry, int count, int frameBytes) {
    Varint.write(out, topic);
    out.put((byte) 0);
    Varint.write(out, expiry);
    Varint.write(out, skipped);
    Varint.write(out, count);
    Varint.write(out, frameBytes);
    positions += count;
    events += count;
    skipped = 0;
    if (topicCount == topics.length) {
      topics = Arrays.copyOf(topics, topicCount * 2);
    }
    topics[topicCount++] = topic;
  }

  private void put(ByteBuffer buffer, int from, int to) {
    out.put(out.position(), buffer, from, to - from);
    out.position(out.position() + to - from);
  }

  private void reserve(int bytes) {
    if (bytes > out.remaining()) {
      int needed = out.position() + bytes;
      ByteBuffer larger =
          ByteBuffer.allocateDirect(Math.max(needed, Integer.highestOneBit(needed) * 2));
      out = larger.put(out.flip());
    }
  }
}
