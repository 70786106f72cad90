package io.eventbus.server.durable;

import io.eventbus.journal.Journals;
import io.eventbus.server.memory.BusMemory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/** Shared durable subscriptions that have consumers at this bus. Any thread. */
final class SharedCursors {
  /** Heap of a cursor and its turns, about. */
  private static final int CURSOR_BYTES = 1_024;

  final Journals journals;
  final CursorOwner owner;
  final CursorLooks looks;
  final Pauses timer;
  final LongSupplier stamp;
  final LongSupplier nanoTime;
  private final BusMemory memory;
  // By number of the journal and name.
  private final Map<Integer, Map<String, SharedCursor>> byJournal = new HashMap<>();

  /**
   * Creates an empty set.
   *
   * @param looks looks at what consumers of other buses have
   * @param timer waits for events whose time has not come
   * @param stamp time of the shard, in milliseconds
   */
  SharedCursors(
      Journals journals,
      CursorOwner owner,
      CursorLooks looks,
      BusMemory memory,
      Pauses timer,
      LongSupplier stamp,
      LongSupplier nanoTime) {
    this.journals = journals;
    this.owner = owner;
    this.looks = looks;
    this.memory = memory;
    this.timer = timer;
    this.stamp = stamp;
    this.nanoTime = nanoTime;
  }

  /** Returns a cursor for one more consumer, which releases it when it has left. */
  synchronized SharedCursor acquire(int journal, String name) {
    SharedCursor cursor =
        byJournal
            .computeIfAbsent(journal, number -> new HashMap<>())
            .computeIfAbsent(name, key -> newCursor(journal, key));
    cursor.users++;
    return cursor;
  }

  private SharedCursor newCursor(int journal, String name) {
    memory.reserve(CURSOR_BYTES);
    return new SharedCursor(this, journal, name);
  }

  synchronized void release(SharedCursor cursor) {
    cursor.users--;
    removeIfIdle(cursor);
  }

  /** Removes a cursor without consumers that has nothing more to do; returns whether it did. */
  synchronized boolean removeIfIdle(SharedCursor cursor) {
    if (cursor.users > 0 || !cursor.isIdle()) {
      return false;
    }
    Map<String, SharedCursor> of = byJournal.get(cursor.journal);
    if (of == null || !of.remove(cursor.name, cursor)) {
      return true;
    }
    if (of.isEmpty()) {
      byJournal.remove(cursor.journal);
    }
    memory.release(CURSOR_BYTES);
    return true;
  }

  private synchronized List<SharedCursor> of(int journal) {
    return List.copyOf(byJournal.getOrDefault(journal, Map.of()).values());
  }

  /** Takes note that a journal may have something for its consumers; does not wait. */
  void changed(int journal) {
    of(journal).forEach(SharedCursor::changed);
  }

  /** Takes note that consumers of a journal may have other slots; does not wait. */
  void regrouped(int journal) {
    of(journal).forEach(SharedCursor::regrouped);
  }

  /** Takes note that a journal is deleted; does not wait. */
  void deleted(int journal) {
    of(journal).forEach(SharedCursor::deleted);
  }
}
