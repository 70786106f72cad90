package io.eventbus.journal.state;

import io.eventbus.journal.chunk.ChunkIndex;
import java.nio.ByteBuffer;

/**
 * Chunk that an entry has written, or written anew after a purge.
 *
 * @param bytes the chunk, from position to limit, which cannot be written and never changes
 */
public record WrittenChunk(int journal, ChunkIndex index, ByteBuffer bytes) {}
