package io.eventbus.journal.read;

import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.chunk.ChunkPurge;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.journal.chunk.ChunkWriter;
import io.eventbus.journal.chunk.FrameHead;
import io.eventbus.journal.chunk.TestEvents;
import io.eventbus.journal.rows.Rows;
import io.eventbus.journal.state.CounterRows;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.store.AppliedEntry;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreBatch;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Journal in a store, made without the rules of a shard, and a plain list of what is in it. */
final class TestJournal {
  static final int NUMBER = 3;

  /** State of an event. */
  enum Fate {
    THERE,
    TRIMMED,
    PURGED,
    DAMAGED
  }

  /** Event as the list knows it. */
  static final class Event {
    final long topic;
    final long expiry;
    final long chunk;
    Fate fate = Fate.THERE;

    Event(long topic, long expiry, long chunk) {
      this.topic = topic;
      this.expiry = expiry;
      this.chunk = chunk;
    }
  }

  final TreeMap<Long, Event> events = new TreeMap<>();
  final TreeMap<Long, ChunkIndex> chunks = new TreeMap<>();
  private final ShardStore store;
  private final ChunkView view = new ChunkView();
  private long first = 1;

  TestJournal(ShardStore store) {
    this.store = store;
    change(rows -> {});
  }

  long first() {
    return first;
  }

  long last() {
    return events.isEmpty() ? 0 : events.lastKey();
  }

  private void change(Consumer<Rows> changes) {
    try (StoreBatch batch = store.begin()) {
      changes.accept(batch);
      batch.put(Keys.journalCounters(NUMBER), CounterRows.of(first, last()));
      batch.commit(new AppliedEntry(1, store.applied().index() + 1, 0));
    }
  }

  /** Part of an entry. */
  record Part(long topic, int count, int payloadBytes, long expiry) {}

  void append(long stamp, Part... parts) {
    long begin = last() + 1;
    TreeMap<Long, Part> byPosition = new TreeMap<>();
    long position = begin;
    for (Part part : parts) {
      byPosition.put(position, part);
      position += part.count();
    }
    long end = position;
    change(
        rows -> {
          ChunkWriter writer = new ChunkWriter((chunk, index) -> store(rows, chunk, index));
          writer.begin(NUMBER, begin, stamp);
          byPosition.forEach((at, part) -> append(writer, at, part));
          writer.end();
          for (long at = begin; at < end; at++) {
            Part part = byPosition.floorEntry(at).getValue();
            events.put(at, new Event(part.topic(), part.expiry(), chunks.floorKey(at)));
          }
        });
  }

  private static void append(ChunkWriter writer, long position, Part part) {
    ByteBuffer bytes = TestEvents.numbered(position, part.count(), part.payloadBytes());
    byte[] name = ("topic." + part.topic()).getBytes(StandardCharsets.UTF_8);
    FrameHead head =
        new FrameHead(part.topic(), name, position, 0, 1_000, 99, position, part.expiry());
    writer.append(head, part.count(), bytes, 0, bytes.limit());
  }

  private void store(Rows rows, ByteBuffer chunk, ChunkIndex index) {
    rows.put(Keys.chunk(NUMBER, index.firstPosition()), chunk);
    rows.put(Keys.chunkIndex(NUMBER, index.firstPosition()), index.encode());
    chunks.put(index.firstPosition(), index);
  }

  /** Trims all chunks before that which has a position. */
  void trim(long position) {
    long next = chunks.floorKey(position);
    first = next;
    change(
        rows -> {
          rows.deleteRange(Keys.chunk(NUMBER, 0), Keys.chunk(NUMBER, next));
          rows.deleteRange(Keys.chunkIndex(NUMBER, 0), Keys.chunkIndex(NUMBER, next));
        });
    chunks.headMap(next).clear();
    events.headMap(next).values().forEach(event -> event.fate = Fate.TRIMMED);
  }

  /** Purges what a rule names from a whole chunk. */
  void purge(long chunk, ChunkPurge.Rule rule) {
    change(
        rows -> {
          byte[] bytes = rows.get(Keys.chunk(NUMBER, chunk));
          try {
            view.read(ByteBuffer.wrap(bytes == null ? new byte[0] : bytes), NUMBER, chunk);
          } catch (ChunkFormatException e) {
            throw new AssertionError(e);
          }
          new ChunkPurge().rewrite(view, rule, new ChunkWriter((b, i) -> store(rows, b, i)));
        });
    events.forEach(
        (position, event) -> {
          if (event.chunk == chunk && rule.removes(event.topic, position)) {
            event.fate = Fate.PURGED;
          }
        });
  }

  /** Changes rows of a chunk, which makes it unreadable. */
  void damage(long chunk, Consumer<Rows> changes) {
    change(changes);
    for (Event event : events.values()) {
      if (event.chunk == chunk) {
        event.fate = Fate.DAMAGED;
      }
    }
  }
}
