package io.eventbus.journal.state;

import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.journal.rows.RowReader;
import java.nio.ByteBuffer;

/**
 * Reader of the indexes of chunks. An index that is damaged is made anew from its chunk, so that
 * the chunk can still be removed. For one thread.
 */
public final class ChunkIndexReader {
  private final ChunkView view = new ChunkView();

  /** Creates a reader. */
  public ChunkIndexReader() {}

  /**
   * Returns an index.
   *
   * @param position the position in the key of its row
   * @param value the value of its row
   * @throws ChunkFormatException if neither the row nor the chunk is as it was written
   */
  public ChunkIndex read(RowReader rows, int journal, long position, byte[] value)
      throws ChunkFormatException {
    try {
      return ChunkIndex.decode(position, value);
    } catch (ChunkFormatException e) {
      byte[] chunk = rows.get(Keys.chunk(journal, position));
      if (chunk == null) {
        throw e;
      }
      view.read(ByteBuffer.wrap(chunk), journal, position);
      return ChunkIndex.of(view);
    }
  }
}
