package io.eventbus.journal.chunk;

import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.MalformedFrameException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * View of a chunk in place: its head and a walk over its parts. For one thread; reused, so that
 * reading allocates nothing. Valid until the buffer changes.
 */
public final class ChunkView {
  private final BodyReader in = new BodyReader();
  private final CRC32C crc = new CRC32C();
  private ByteBuffer chunk = ByteBuffer.allocate(0);
  private int journal;
  private long firstPosition;
  private int positions;
  private long stamp;

  private long topic;
  private long expiry;
  private long position;
  private int events;
  private int frameStart;
  private int frameEnd;

  /** Creates an empty view. */
  public ChunkView() {}

  /**
   * Checks a chunk whole; the walk then begins before its first part and cannot fail.
   *
   * @param bytes the chunk, from index 0 to the limit
   * @param expectedJournal the journal in its key
   * @param expectedPosition the first position in its key
   * @throws ChunkFormatException if it is not as it was written, or another one
   */
  public void read(ByteBuffer bytes, int expectedJournal, long expectedPosition)
      throws ChunkFormatException {
    chunk = bytes;
    String name = "chunk of journal " + expectedJournal + " at position " + expectedPosition + ": ";
    if (bytes.limit() < ChunkFormat.HEAD_BYTES) {
      throw new ChunkFormatException(
          name + bytes.limit() + " bytes (expected: at least " + ChunkFormat.HEAD_BYTES + ")");
    }
    if (bytes.get(0) != ChunkFormat.FORMAT) {
      throw new ChunkFormatException(
          name + "format " + bytes.get(0) + " (expected: " + ChunkFormat.FORMAT + ")");
    }
    crc.reset();
    crc.update(bytes.duplicate().position(ChunkFormat.CHECKED_FROM));
    int stated = bytes.getInt(ChunkFormat.CHECKSUM_AT);
    if (stated != (int) crc.getValue()) {
      throw new ChunkFormatException(
          name
              + String.format(
                  "CRC32C %08x of %d bytes (expected: %08x, as it states)",
                  (int) crc.getValue(), bytes.limit() - ChunkFormat.CHECKED_FROM, stated));
    }
    journal = bytes.getInt(ChunkFormat.JOURNAL_AT);
    firstPosition = bytes.getLong(ChunkFormat.POSITION_AT);
    positions = bytes.getInt(ChunkFormat.COUNT_AT);
    stamp = bytes.getLong(ChunkFormat.STAMP_AT);
    if (journal != expectedJournal || firstPosition != expectedPosition || positions < 1) {
      throw new ChunkFormatException(
          name
              + ("journal " + journal + ", " + positions + " positions from " + firstPosition)
              + " (expected: those of its key, and at least one)");
    }
    try {
      checkParts();
    } catch (MalformedFrameException e) {
      throw new ChunkFormatException(name + e.getMessage(), e);
    }
    rewind();
  }

  /**
   * Checks a chunk whole, as {@link #read}, wherever it says that it begins.
   *
   * @param bytes the chunk, from index 0 to the limit
   * @param expectedJournal the journal in its key
   * @throws ChunkFormatException if it is not as it was written, or another one
   */
  public void read(ByteBuffer bytes, int expectedJournal) throws ChunkFormatException {
    boolean whole = bytes.limit() >= ChunkFormat.HEAD_BYTES;
    read(bytes, expectedJournal, whole ? bytes.getLong(ChunkFormat.POSITION_AT) : 0);
  }

  private void checkParts() {
    rewind();
    while (!in.atEnd()) {
      readPart();
      if (events < 1 || position + events > firstPosition + positions) {
        throw in.malformed(
            "part",
            in.position(),
            events + " events at position " + position,
            "at least one, up to position " + lastPosition());
      }
    }
  }

  /** Goes back to before the first part. */
  public void rewind() {
    in.wrap(chunk, 0, chunk.limit()).position(ChunkFormat.HEAD_BYTES);
    position = firstPosition;
    events = 0;
  }

  /**
   * Goes on to the next part.
   *
   * @return whether there is one
   */
  public boolean next() {
    if (in.atEnd()) {
      return false;
    }
    readPart();
    return true;
  }

  private void readPart() {
    topic = in.readLong("topic");
    int flagsAt = in.position();
    if (in.readBoolean("flags")) {
      throw in.malformed("flags", flagsAt, 1, "0");
    }
    expiry = in.readLong("expiry");
    position += (long) events + in.readCount("positions left out");
    events = in.readCount("events");
    int length = in.readLength("frame", Integer.MAX_VALUE);
    frameStart = in.position();
    frameEnd = frameStart + length;
    in.position(frameEnd);
  }

  /** Returns the journal. */
  public int journal() {
    return journal;
  }

  /** Returns the first position that the chunk covers. */
  public long firstPosition() {
    return firstPosition;
  }

  /** Returns the last position that the chunk covers, also if its event is not there any more. */
  public long lastPosition() {
    return firstPosition + positions - 1;
  }

  /** Returns the time of the shard when the chunk was written, in milliseconds. */
  public long stamp() {
    return stamp;
  }

  /** Returns the size of the chunk. */
  public int bytes() {
    return chunk.limit();
  }

  /** Returns the topic of the part. */
  public long topic() {
    return topic;
  }

  /** Returns the time of the shard from which on the part is not delivered, 0 for none. */
  public long expiry() {
    return expiry;
  }

  /** Returns the position of the part's first event; the others follow it without a gap. */
  public long position() {
    return position;
  }

  /** Returns how many events the part has. */
  public int events() {
    return events;
  }

  /** Returns the index of the first byte of the part's frame. */
  public int frameStart() {
    return frameStart;
  }

  /** Returns the index after the last byte of the part's frame. */
  public int frameEnd() {
    return frameEnd;
  }

  /** Returns the part's frame, as a view of the chunk's bytes that cannot be written. */
  public ByteBuffer frame() {
    return chunk.slice(frameStart, frameEnd - frameStart).asReadOnlyBuffer();
  }

  ByteBuffer chunk() {
    return chunk;
  }
}
