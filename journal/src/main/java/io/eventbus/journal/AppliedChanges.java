package io.eventbus.journal;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;

/**
 * Effect of an entry of the log on journals.
 *
 * @param stamp the shard's time after the entry, in milliseconds since the epoch
 * @param leads whether this bus led the shard in the term of the entry: true at one bus at most, so
 *     that one alone does what has to be done once in the cluster
 * @param chunks the events that were written, those of each journal in the order of their positions
 * @param journals the numbers of all journals that have changed in any way
 * @param released the numbers of the journals of shared cursors that may have events again, beside
 *     those in chunks: some were given back, perhaps for later, or dead ones have made room
 * @param regrouped the numbers of the journals of key-shared cursors whose consumers may have other
 *     slots, or events that come again
 */
public record AppliedChanges(
    long stamp,
    boolean leads,
    List<AppliedChunk> chunks,
    Set<Integer> journals,
    Set<Integer> released,
    Set<Integer> regrouped) {
  /** Copies list and sets. */
  public AppliedChanges {
    chunks = List.copyOf(chunks);
    journals = Set.copyOf(journals);
    released = Set.copyOf(released);
    regrouped = Set.copyOf(regrouped);
  }

  /**
   * Chunk of events. One whose positions were told before was written anew without the events that
   * have been purged.
   *
   * @param journal number of the journal
   * @param from the first position
   * @param to the last position
   * @param bytes the chunk as {@code ChunkView} reads it, from position to limit, read-only and
   *     never changed; read a duplicate of it
   */
  public record AppliedChunk(int journal, long from, long to, ByteBuffer bytes) {}
}
