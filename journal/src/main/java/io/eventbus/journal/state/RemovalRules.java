package io.eventbus.journal.state;

import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Purged;
import io.eventbus.journal.RecordResult.Trimmed;
import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.chunk.ChunkPurge;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.journal.chunk.ChunkWriter;
import io.eventbus.journal.codec.ShardRecord.Purge;
import io.eventbus.journal.codec.ShardRecord.Trim;
import io.eventbus.journal.rows.DamagedStoreException;
import io.eventbus.journal.rows.RowScan;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** Rules of the removal of the oldest events, and of single ones. */
final class RemovalRules {
  /** Maximum number of chunks, or of last events, that a record removes; part of the rules. */
  static final int MAX_TRIMMED = 4_096;

  /** Number of topics after which a record leaves the rest to the next; part of the rules. */
  static final int MAX_TOPICS = 10_000;

  /** Maximum number of chunks that a record writes anew; part of the rules. */
  static final int MAX_REWRITTEN = 64;

  private final ShardContext context;
  private final TopicTable topics;
  private final SharedWriter shared;
  private final ChunkIndexReader indexes = new ChunkIndexReader();

  RemovalRules(ShardContext context, TopicTable topics, SharedWriter shared) {
    this.context = context;
    this.topics = topics;
    this.shared = shared;
  }

  RecordResult trim(Trim record) {
    Journal journal = context.journal(record.journal());
    if (journal == null) {
      return ShardContext.noJournal(record.journal());
    }
    JournalCounters counters = journal.counters();
    long upTo = Math.min(record.upTo(), counters.lastPosition);
    if (upTo < counters.firstPosition) {
      return new Trimmed(counters.firstPosition, true);
    }
    context.changed(journal);
    return journal.keepsLatest() ? trimLatest(journal, upTo) : trimChunks(journal, upTo);
  }

  private RecordResult trimChunks(Journal journal, long upTo) {
    JournalCounters counters = journal.counters();
    int number = journal.number();
    long first = counters.firstPosition;
    TreeSet<Long> touched = new TreeSet<>();
    boolean complete = true;
    int chunks = 0;
    try (RowScan scan =
            context.rows.scan(Keys.chunkIndex(number, first), Keys.chunkIndex(number, upTo + 1));
        PurgedTopics purged = new PurgedTopics(number, first, upTo, touched)) {
      while (scan.next()) {
        // Before it may be chunks of which nothing can be read.
        counters.firstPosition = Keys.number(scan.key());
        purged.take(counters.firstPosition);
        if (chunks == MAX_TRIMMED || touched.size() > MAX_TOPICS || purged.rows > MAX_TOPICS) {
          complete = false;
          break;
        }
        chunks++;
        ChunkIndex index = readIndex(number, scan);
        if (index == null) {
          continue;
        }
        if (index.lastPosition() > upTo) {
          break;
        }
        counters.firstPosition = index.lastPosition() + 1;
        counters.events -= index.events();
        counters.bytes -= index.bytes();
        for (long topic : index.topics()) {
          touched.add(topic);
        }
      }
      if (complete && upTo == counters.lastPosition) {
        counters.firstPosition = upTo + 1;
        counters.events = 0;
        counters.bytes = 0;
      }
      purged.take(counters.firstPosition);
    }
    long end = counters.firstPosition;
    context.rows.deleteRange(Keys.chunk(number, first), Keys.chunk(number, end));
    context.rows.deleteRange(Keys.chunkIndex(number, first), Keys.chunkIndex(number, end));
    context.rows.deleteRange(Keys.latestPosition(number, first), Keys.latestPosition(number, end));
    for (long topic : touched) {
      emptyIfGone(journal, topic);
    }
    return new Trimmed(end, complete);
  }

  /** Topics whose last event was purged before, by its position. */
  private final class PurgedTopics implements AutoCloseable {
    private final RowScan scan;
    private final Set<Long> topics;
    private boolean more;
    private int rows;

    PurgedTopics(int journal, long from, long to, Set<Long> topics) {
      this.topics = topics;
      scan =
          context.rows.scan(
              Keys.latestPosition(journal, from), Keys.latestPosition(journal, to + 1));
      more = scan.next();
    }

    /** Adds those before a position. */
    void take(long end) {
      while (more && Keys.number(scan.key()) < end) {
        topics.add(Keys.topicOf(scan.value()));
        rows++;
        more = scan.next();
      }
    }

    @Override
    public void close() {
      scan.close();
    }
  }

  private void emptyIfGone(Journal journal, long number) {
    byte[] name = topics.name(journal, number);
    TopicRow topic = name == null ? null : topics.get(journal, name);
    if (name != null
        && topic != null
        && !topic.isEmpty()
        && topic.lastPosition < journal.counters().firstPosition) {
      topics.empty(journal, name, topic);
    }
  }

  private RecordResult trimLatest(Journal journal, long upTo) {
    JournalCounters counters = journal.counters();
    boolean complete = true;
    int removed = 0;
    try (RowScan scan = scanLatest(journal, counters.firstPosition, upTo)) {
      while (scan.next()) {
        if (removed == MAX_TRIMMED) {
          complete = false;
          break;
        }
        removed++;
        counters.firstPosition = Keys.number(scan.key()) + 1;
        removeLatest(journal, Keys.topicOf(scan.value()));
      }
    }
    if (complete) {
      counters.firstPosition = upTo + 1;
    }
    return new Trimmed(counters.firstPosition, complete);
  }

  private RowScan scanLatest(Journal journal, long from, long to) {
    return context.rows.scan(
        Keys.latestPosition(journal.number(), from), Keys.latestPosition(journal.number(), to + 1));
  }

  /** Removes the last event of a topic, in a journal that keeps no others. */
  private void removeLatest(Journal journal, long number) {
    byte[] name = topics.name(journal, number);
    TopicRow topic = name == null ? null : topics.get(journal, name);
    if (name == null || topic == null) {
      return;
    }
    context.rows.delete(Keys.latest(journal.number(), number));
    context.rows.delete(Keys.latestPosition(journal.number(), topic.lastPosition));
    journal.counters().events--;
    journal.counters().bytes -= topic.latestBytes;
    topics.empty(journal, name, topic);
  }

  RecordResult purge(Purge record) {
    Journal journal = context.journal(record.journal());
    if (journal == null) {
      return ShardContext.noJournal(record.journal());
    }
    long from = Math.max(record.from(), journal.counters().firstPosition);
    long to = Math.min(record.to(), journal.counters().lastPosition);
    TopicRow topic = null;
    if (!record.topic().isEmpty()) {
      topic = topics.get(journal, record.topic().getBytes(StandardCharsets.UTF_8));
      if (topic == null) {
        return new Purged(0, 0);
      }
    }
    if (from > to) {
      return new Purged(0, 0);
    }
    context.changed(journal);
    return journal.keepsLatest()
        ? purgeLatest(journal, topic, from, to)
        : new ChunkRemoval(journal, topic, from, to).purge();
  }

  private RecordResult purgeLatest(Journal journal, @Nullable TopicRow only, long from, long to) {
    if (only != null) {
      if (only.lastPosition < from || only.lastPosition > to) {
        return new Purged(0, 0);
      }
      removeLatest(journal, only.number);
      return new Purged(1, 0);
    }
    long removed = 0;
    try (RowScan scan = scanLatest(journal, from, to)) {
      while (scan.next()) {
        if (removed == MAX_TRIMMED) {
          return new Purged(removed, Keys.number(scan.key()));
        }
        removed++;
        removeLatest(journal, Keys.topicOf(scan.value()));
      }
    }
    return new Purged(removed, 0);
  }

  /**
   * Returns the index at which a scan stands. If nothing is known of its chunk the only replica
   * goes on without it: null. One of several would differ from the others then, and fails.
   */
  private @Nullable ChunkIndex readIndex(int journal, RowScan scan) {
    try {
      return indexes.read(context.rows, journal, Keys.number(scan.key()), scan.value());
    } catch (ChunkFormatException e) {
      if (context.alone) {
        return null;
      }
      throw RowCache.damaged(scan.key(), e);
    }
  }

  /** Removal of events from chunks, which are written anew; their positions stay. */
  private final class ChunkRemoval implements ChunkWriter.Sink, ChunkPurge.Rule {
    private final Journal journal;
    private final @Nullable TopicRow only;
    private final long from;
    private final long to;
    private final ChunkView view = new ChunkView();
    private final ChunkPurge chunkPurge = new ChunkPurge();
    // The last removed position of each topic.
    private final Map<Long, Long> removedLast = new HashMap<>();
    private int eventsLeft;

    ChunkRemoval(Journal journal, @Nullable TopicRow only, long from, long to) {
      this.journal = journal;
      this.only = only;
      this.from = from;
      this.to = to;
    }

    Purged purge() {
      LongPredicate wanted = topic -> only == null || only.number == topic;
      long removed = 0;
      int scanned = 0;
      int rewritten = 0;
      long next = 0;
      try (RowScan scan =
          context.rows.scan(firstChunk(), Keys.chunkIndex(journal.number(), to + 1))) {
        while (scan.next()) {
          ChunkIndex index = readIndex(journal.number(), scan);
          if (index == null) {
            continue;
          }
          if (scanned == MAX_TRIMMED || rewritten == MAX_REWRITTEN) {
            next = index.firstPosition();
            break;
          }
          scanned++;
          if (index.lastPosition() >= from && index.hasAny(wanted)) {
            rewritten++;
            removed += rewrite(index);
          }
        }
      }
      keepLastPositions();
      return new Purged(removed, next);
    }

    /** Returns the key of the index of the chunk that has the first position. */
    private byte[] firstChunk() {
      try (RowScan scan =
          context.rows.scanReverse(
              Keys.first(Keys.CHUNK_INDEX, journal.number()),
              Keys.chunkIndex(journal.number(), from + 1))) {
        return scan.next() ? scan.key() : Keys.chunkIndex(journal.number(), from);
      }
    }

    private int rewrite(ChunkIndex index) {
      byte[] key = Keys.chunk(journal.number(), index.firstPosition());
      byte[] chunk = context.rows.get(key);
      if (chunk == null) {
        throw new DamagedStoreException(
            "chunk of "
                + journal.shown()
                + " at position "
                + index.firstPosition()
                + ": not there (expected: the chunk of its index)");
      }
      try {
        view.read(ByteBuffer.wrap(chunk), journal.number(), index.firstPosition());
      } catch (ChunkFormatException e) {
        throw RowCache.damaged(key, e);
      }
      journal.counters().bytes -= index.bytes();
      chunkPurge.rewrite(view, this, shared.to(this));
      int removed = index.events() - eventsLeft;
      journal.counters().events -= removed;
      return removed;
    }

    @Override
    public boolean removes(long topic, long position) {
      boolean removed =
          position >= from && position <= to && (only == null || only.number == topic);
      if (removed) {
        removedLast.merge(topic, position, Math::max);
      }
      return removed;
    }

    @Override
    public void take(ByteBuffer chunk, ChunkIndex index) {
      eventsLeft = index.events();
      journal.counters().bytes += index.bytes();
      context.writeChunk(journal.number(), chunk, index);
    }

    /**
     * Keeps in mind which topics have lost their last event. Their rows stay as they are, and are
     * found by this when the position is trimmed.
     */
    private void keepLastPositions() {
      removedLast.forEach(
          (number, position) -> {
            byte[] name = topics.name(journal, number);
            TopicRow topic = name == null ? null : topics.get(journal, name);
            if (topic != null && topic.lastPosition == position) {
              context.rows.put(
                  Keys.latestPosition(journal.number(), position), Keys.topicValue(number));
            }
          });
    }
  }
}
