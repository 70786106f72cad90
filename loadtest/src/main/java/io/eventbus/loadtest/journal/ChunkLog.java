package io.eventbus.loadtest.journal;

import io.eventbus.journal.chunk.ChunkIndex;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Place for the chunks of many journals; each way to store them implements it. */
interface ChunkLog extends AutoCloseable {
  /** Writes the chunk of an entry with its small rows. */
  void write(int journal, ByteBuffer chunk, ChunkIndex index) throws IOException;

  /** Removes the chunks of a journal before that which begins at a position. */
  void trim(int journal, long position) throws IOException;

  /** Brings everything to the disk. */
  void flush() throws IOException, InterruptedException;

  /** Reads what there is of a journal, checks it, and returns its bytes. */
  long scan(int journal) throws IOException;

  /** Returns how many writes had to wait. */
  long stalls();

  @Override
  void close() throws IOException;
}
