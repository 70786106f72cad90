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
 */
public record ShardChanges(
    long stamp, List<RecordResult> results, List<WrittenChunk> chunks, Set<Integer> journals) {
  /** Copies lists and set. */
  public ShardChanges {
    results = List.copyOf(results);
    chunks = List.copyOf(chunks);
    journals = Set.copyOf(journals);
  }
}
