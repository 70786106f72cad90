package io.eventbus.journal.state;

import io.eventbus.journal.RecordResult;
import java.util.List;
import java.util.Set;

/**
 * Effect of an entry, beside that on rows.
 *
 * @param stamp the shard's time after the entry, in milliseconds
 * @param results those of the entry's records, in their order
 * @param chunks what was written; of a journal that keeps only last events, a chunk of each
 * @param journals the numbers of the journals that have changed
 * @param released the numbers of the journals of shared cursors that may have events again
 * @param regrouped the numbers of the journals of key-shared cursors whose consumers may have other
 *     slots, or events that come again
 */
public record ShardChanges(
    long stamp,
    List<RecordResult> results,
    List<WrittenChunk> chunks,
    Set<Integer> journals,
    Set<Integer> released,
    Set<Integer> regrouped) {
  /** Copies lists and sets. */
  public ShardChanges {
    results = List.copyOf(results);
    chunks = List.copyOf(chunks);
    journals = Set.copyOf(journals);
    released = Set.copyOf(released);
    regrouped = Set.copyOf(regrouped);
  }
}
