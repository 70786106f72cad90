package io.eventbus.journal.state;

import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.chunk.ChunkWriter;
import java.nio.ByteBuffer;

/** Writer of chunks whose buffer all entries use, each with a sink of its own. */
final class SharedWriter implements ChunkWriter.Sink {
  private final ChunkWriter writer = new ChunkWriter(this);
  private ChunkWriter.Sink sink = SharedWriter::unexpected;

  private static void unexpected(ByteBuffer chunk, ChunkIndex index) {
    throw new IllegalStateException(
        "chunk at position " + index.firstPosition() + ": no sink (expected: one)");
  }

  /** Returns the writer, which gives its chunks to a sink from now on. */
  ChunkWriter to(ChunkWriter.Sink next) {
    sink = next;
    return writer;
  }

  @Override
  public void take(ByteBuffer chunk, ChunkIndex index) {
    sink.take(chunk, index);
  }
}
