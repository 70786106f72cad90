package io.eventbus.journal.state;

import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.rows.Rows;
import io.eventbus.protocol.MalformedFrameException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Entry that is being applied, as all rules see it. Confined to the thread that applies it. */
final class ShardContext {
  final ShardLimits limits;
  final boolean alone;
  final RowCache cache;
  final Rows rows;
  final ShardCounters counters;
  final long stamp;
  final List<WrittenChunk> chunks = new ArrayList<>();
  final Set<Integer> changedJournals = new HashSet<>();
  final Set<Integer> releasedJournals = new HashSet<>();
  final Set<Integer> regroupedJournals = new HashSet<>();

  ShardContext(
      ShardLimits limits,
      boolean alone,
      RowCache cache,
      Rows rows,
      ShardCounters counters,
      long entryStamp) {
    this.limits = limits;
    this.alone = alone;
    this.cache = cache;
    this.rows = rows;
    this.counters = counters;
    counters.stamp = Math.max(counters.stamp, entryStamp);
    this.stamp = counters.stamp;
  }

  static ShardCounters readCounters(Rows rows) {
    byte[] value = rows.get(Keys.shard());
    try {
      return value == null ? new ShardCounters() : ShardCounters.decode(value);
    } catch (MalformedFrameException e) {
      throw RowCache.damaged(Keys.shard(), e);
    }
  }

  @Nullable Journal journal(int number) {
    DefinitionRow row =
        cache.get(rows, Keys.journal(number), DefinitionRow.class, DefinitionRow::decode);
    JournalCounters found =
        cache.get(
            rows, Keys.journalCounters(number), JournalCounters.class, JournalCounters::decode);
    return row == null || found == null
        ? null
        : new Journal(number, row.definition(), row.creation(), found);
  }

  /** Takes note that the counters of a journal have changed. */
  void changed(Journal journal) {
    cache.put(Keys.journalCounters(journal.number()), journal.counters());
    changedJournals.add(journal.number());
  }

  /** Writes a chunk and its index. */
  void writeChunk(int journal, ByteBuffer chunk, ChunkIndex index) {
    rows.put(Keys.chunk(journal, index.firstPosition()), chunk);
    rows.put(Keys.chunkIndex(journal, index.firstPosition()), index.encode());
    keep(journal, chunk, index);
  }

  /** Keeps a copy of a chunk for readers of what was just written. */
  void keep(int journal, ByteBuffer chunk, ChunkIndex index) {
    ByteBuffer copy = ByteBuffer.allocate(chunk.remaining()).put(chunk.duplicate()).flip();
    chunks.add(new WrittenChunk(journal, index, copy.asReadOnlyBuffer()));
  }

  static Refused noJournal(int journal) {
    return new Refused(
        JournalRefusalReason.NO_JOURNAL,
        "journal: " + journal + " (expected: the number of a journal of this shard)");
  }
}
