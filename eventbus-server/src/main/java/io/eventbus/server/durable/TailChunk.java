package io.eventbus.server.durable;

import io.eventbus.journal.AppliedChanges.AppliedChunk;
import java.nio.ByteBuffer;

/**
 * Chunk that was applied lately, for the consumers of its journal. Each object is equal to itself
 * only.
 */
final class TailChunk {
  private final long covers;
  private final AppliedChunk applied;

  /**
   * Creates a chunk.
   *
   * @param covers the first position that it covers: that behind the chunk before it, also where
   *     the journal has nothing at the positions between
   */
  TailChunk(long covers, AppliedChunk applied) {
    this.covers = covers;
    this.applied = applied;
  }

  long covers() {
    return covers;
  }

  long from() {
    return applied.from();
  }

  long to() {
    return applied.to();
  }

  /** Returns the chunk as {@code ChunkView} reads it; a view of its own. */
  ByteBuffer bytes() {
    return applied.bytes().duplicate();
  }

  int size() {
    return applied.bytes().remaining();
  }
}
