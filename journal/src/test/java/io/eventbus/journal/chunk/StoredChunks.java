package io.eventbus.journal.chunk;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Sink that keeps what it is given. */
final class StoredChunks implements ChunkWriter.Sink {
  final List<ByteBuffer> chunks = new ArrayList<>();
  final List<ChunkIndex> indexes = new ArrayList<>();

  @Override
  public void take(ByteBuffer chunk, ChunkIndex index) {
    chunks.add(ByteBuffer.allocate(chunk.remaining()).put(chunk).flip());
    indexes.add(index);
  }
}
