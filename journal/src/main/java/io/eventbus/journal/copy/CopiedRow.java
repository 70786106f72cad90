package io.eventbus.journal.copy;

import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.journal.state.Keys;
import java.nio.ByteBuffer;

/** Check of rows that have a checksum: those of events. Confined to one thread. */
final class CopiedRow {
  private static final int MIN_KEY_BYTES = 1 + Integer.BYTES + Long.BYTES;

  private final ChunkView view = new ChunkView();

  /**
   * Checks a row.
   *
   * @throws ChunkFormatException if it has a checksum, and is not as it was written
   */
  void check(byte[] key, byte[] value) throws ChunkFormatException {
    byte kind = key.length < MIN_KEY_BYTES ? Keys.META : key[0];
    if (kind == Keys.CHUNK || kind == Keys.LATEST) {
      read(view, key, value);
    }
  }

  /** Has a view read the events of a row: of a chunk, or the latest one of a topic. */
  static void read(ChunkView view, byte[] key, byte[] value) throws ChunkFormatException {
    if (key[0] == Keys.CHUNK) {
      view.read(ByteBuffer.wrap(value), Keys.journalOf(key), Keys.number(key));
    } else {
      view.read(ByteBuffer.wrap(value), Keys.journalOf(key));
    }
  }
}
