package io.eventbus.journal.copy;

import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.state.Keys;
import io.eventbus.link.BinaryFields;
import java.io.IOException;

/** Row with events, from a replica that can read it to one that cannot. */
public final class EventRow {
  private static final int MAX_KEY_BYTES = 64;

  private final long entry;
  private final byte[] key;
  private final byte[] value;

  /**
   * Creates a row.
   *
   * @param entry the last entry that was applied when it was read
   * @param key its key: of a chunk, or of the latest event of a topic
   * @param value the events, with their checksum
   */
  public EventRow(long entry, byte[] key, byte[] value) {
    this.entry = entry;
    this.key = key;
    this.value = value;
  }

  /** Returns the last entry that was applied when it was read. */
  public long entry() {
    return entry;
  }

  /** Returns its key, which is not changed. */
  public byte[] key() {
    return key;
  }

  /** Returns the events, which are not changed. */
  public byte[] value() {
    return value;
  }

  byte[] encode() {
    return BinaryFields.encode(
        out -> {
          out.writeLong(entry);
          out.writeInt(key.length);
          out.write(key);
          out.writeInt(value.length);
          out.write(value);
        });
  }

  /**
   * Decodes a row, after checking that it has the event that was asked for, as it was written.
   *
   * @param kind the kind of its key
   * @throws io.eventbus.link.LinkServiceException if it has not
   */
  public static EventRow decode(byte[] answer, byte kind, int journal, long position) {
    return BinaryFields.decode(
        answer,
        in -> {
          long entry = in.readLong();
          byte[] key = new byte[BinaryFields.count(in, "key", MAX_KEY_BYTES)];
          in.readFully(key);
          byte[] value = new byte[BinaryFields.count(in, "value", Entry.MAX_BYTES)];
          in.readFully(value);
          EventRow row = new EventRow(entry, key, value);
          if (key.length != Keys.chunk(journal, position).length
              || key[0] != kind
              || Keys.journalOf(key) != journal) {
            throw new IOException("key: of another row (expected: of journal " + journal + ")");
          }
          ChunkView unused = row.view(position);
          return row;
        });
  }

  /**
   * Returns a view of the events.
   *
   * @param position a position that has to be among theirs
   * @throws IOException if it is not, or they are not as they were written
   */
  public ChunkView view(long position) throws IOException {
    ChunkView view = new ChunkView();
    try {
      CopiedRow.read(view, key, value);
    } catch (ChunkFormatException e) {
      throw new IOException(e.getMessage(), e);
    }
    if (position < view.firstPosition() || position > view.lastPosition()) {
      throw new IOException(
          "events: from position "
              + view.firstPosition()
              + " to "
              + view.lastPosition()
              + (" (expected: position " + position + " among them)"));
    }
    return view;
  }
}
