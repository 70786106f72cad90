package io.eventbus.server.durable;

import io.eventbus.journal.AppliedChanges.AppliedChunk;
import io.eventbus.server.delivery.Loops;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Journal with consumers on this bus: its end, and the chunks that were applied lately. Any thread
 * reads; {@link JournalConsumers} changes it under its lock.
 */
final class ConsumedJournal {
  private final JournalInfo info;
  private final ConcurrentSkipListMap<Long, TailChunk> chunks = new ConcurrentSkipListMap<>();
  private final List<LoopWaiters> waiters = new ArrayList<>();
  private final AtomicLong head = new AtomicLong();
  // What is told behind it was never told before; -1 if it is not known yet.
  private volatile long base = -1;
  private volatile boolean deleted;
  // Under the lock:
  private long lastTo;
  private boolean hasGap;
  private int consumers;

  ConsumedJournal(JournalInfo info, Loops loops) {
    this.info = info;
    for (int i = 0; i < loops.count(); i++) {
      waiters.add(new LoopWaiters(loops.executor(i)));
    }
  }

  JournalInfo info() {
    return info;
  }

  int number() {
    return info.number();
  }

  /** Returns the last position that is known to be committed. */
  long head() {
    return head.get();
  }

  /** Takes note of the last position, which was read after this journal had its first consumer. */
  void reached(long position) {
    if (base < 0) {
      base = position;
    }
    head.accumulateAndGet(position, Math::max);
  }

  boolean isDeleted() {
    return deleted;
  }

  void deleted() {
    deleted = true;
  }

  LoopWaiters waiters(int loop) {
    return waiters.get(loop);
  }

  void wake() {
    waiters.forEach(LoopWaiters::wake);
  }

  /** Returns the chunk that covers a position; null if it is not kept. */
  @Nullable TailChunk find(long position) {
    Map.Entry<Long, TailChunk> found = chunks.floorEntry(position);
    return found != null && found.getValue().to() >= position ? found.getValue() : null;
  }

  // ---- Under the lock

  int addConsumers(int change) {
    consumers += change;
    return consumers;
  }

  /** Takes note that events may have come that were not told: they are read from the disk. */
  void mayHaveGap() {
    hasGap = true;
  }

  /**
   * Adds a chunk, or replaces the one at its positions, which were purged or applied again.
   *
   * @return the chunk that is kept from now on; null if it is none
   */
  @Nullable TailChunk add(AppliedChunk applied) {
    long known = base;
    long before = Math.max(lastTo, known);
    if (applied.to() > before) {
      boolean onlyItself = known < 0 || (hasGap && applied.from() > before);
      TailChunk chunk = new TailChunk(onlyItself ? applied.from() : before + 1, applied);
      hasGap = false;
      lastTo = applied.to();
      chunks.put(chunk.covers(), chunk);
      head.accumulateAndGet(lastTo, Math::max);
      return chunk;
    }
    TailChunk old = find(applied.from());
    if (old == null || old.from() != applied.from() || old.to() != applied.to()) {
      return null;
    }
    TailChunk chunk = new TailChunk(old.covers(), applied);
    chunks.put(chunk.covers(), chunk);
    return chunk;
  }

  void remove(TailChunk chunk) {
    chunks.remove(chunk.covers(), chunk);
  }

  Collection<TailChunk> chunks() {
    return chunks.values();
  }
}
