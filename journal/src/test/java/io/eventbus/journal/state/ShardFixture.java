package io.eventbus.journal.state;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.Retention;
import io.eventbus.journal.chunk.ChunkFormatException;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.chunk.ChunkView;
import io.eventbus.journal.chunk.TestEvents;
import io.eventbus.journal.codec.EntryFormatException;
import io.eventbus.journal.codec.EntryReader;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.rows.MemoryRows;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TopicFilter;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** Shard on rows in memory, and what lies in these. */
final class ShardFixture {
  /** Event as a reader finds it. */
  record StoredEvent(
      long position, String topic, long sequence, long origin, long expiry, long number) {}

  /** Maximum sizes that tests reach. */
  static final ShardLimits SMALL = new ShardLimits(3, 4, 2, 6, 8, 1_000, 3, 5);

  final ShardLimits limits;
  final MemoryRows rows;
  private final long cacheBytes;
  private Shard shard;
  ShardChanges changes = new ShardChanges(0, List.of(), List.of(), Set.of(), Set.of(), Set.of());

  ShardFixture(ShardLimits limits, MemoryRows rows, long cacheBytes) {
    this.limits = limits;
    this.rows = rows;
    this.cacheBytes = cacheBytes;
    this.shard = new Shard(limits, cacheBytes, true);
  }

  static JournalDefinition definition(String name, String filter, KeepPolicy keep) {
    return definition(name, filter, keep, Retention.UNLIMITED, FullPolicy.DROP_OLD);
  }

  static JournalDefinition definition(
      String name, String filter, KeepPolicy keep, Retention retention, FullPolicy full) {
    return new JournalDefinition(name, List.of(TopicFilter.parse(filter)), keep, retention, full);
  }

  /** Goes on with nothing but the rows. */
  void restart() {
    shard = new Shard(limits, cacheBytes, true);
  }

  /** Goes on with nothing but the rows, as one replica of several. */
  void restartInCluster() {
    shard = new Shard(limits, cacheBytes, false);
  }

  /** Applies an entry, on its way through bytes, and commits it. */
  List<RecordResult> apply(long stamp, List<ShardRecord> records) {
    return apply(TestEntries.bytes(stamp, records));
  }

  List<RecordResult> apply(ByteBuffer entry) {
    try {
      changes = shard.apply(new EntryReader().read(entry), rows);
    } catch (EntryFormatException e) {
      throw new AssertionError(e);
    }
    rows.commit();
    return changes.results();
  }

  JournalCounters counters(int journal) {
    return JournalCounters.decode(
        Objects.requireNonNull(rows.get(Keys.journalCounters(journal)), "counters"));
  }

  /** Returns the indexes of a journal's chunks, the oldest first. */
  List<ChunkIndex> indexes(int journal) {
    List<ChunkIndex> indexes = new ArrayList<>();
    try (RowScan scan =
        rows.scan(Keys.first(Keys.CHUNK_INDEX, journal), Keys.end(Keys.CHUNK_INDEX, journal))) {
      while (scan.next()) {
        indexes.add(ChunkIndex.decode(Keys.number(scan.key()), scan.value()));
      }
    } catch (ChunkFormatException e) {
      throw new AssertionError(e);
    }
    return indexes;
  }

  /** Returns the events of a journal that keeps all. */
  List<StoredEvent> events(int journal) {
    List<StoredEvent> events = new ArrayList<>();
    for (ChunkIndex index : indexes(journal)) {
      byte[] chunk =
          Objects.requireNonNull(rows.get(Keys.chunk(journal, index.firstPosition())), "chunk");
      read(journal, index.firstPosition(), ByteBuffer.wrap(chunk), events);
    }
    return events;
  }

  /** Returns the events of a journal that keeps the last of each topic, by position. */
  List<StoredEvent> latest(int journal) {
    List<StoredEvent> events = new ArrayList<>();
    try (RowScan scan =
        rows.scan(
            Keys.first(Keys.LATEST_POSITION, journal), Keys.end(Keys.LATEST_POSITION, journal))) {
      while (scan.next()) {
        byte[] chunk =
            Objects.requireNonNull(
                rows.get(Keys.latest(journal, Keys.topicOf(scan.value()))), "latest");
        read(journal, Keys.number(scan.key()), ByteBuffer.wrap(chunk), events);
      }
    }
    return events;
  }

  static void read(int journal, long first, ByteBuffer chunk, List<StoredEvent> events) {
    ChunkView view = new ChunkView();
    DeliverView deliver = new DeliverView();
    BodyReader in = new BodyReader();
    try {
      view.read(chunk, journal, first);
    } catch (ChunkFormatException e) {
      throw new AssertionError(e);
    }
    while (view.next()) {
      in.wrap(chunk, view.frameStart(), view.frameEnd());
      in.readInt("type");
      in.readLength("body", Integer.MAX_VALUE);
      deliver.read(chunk, in.position(), view.frameEnd(), FrameLimits.UNLIMITED);
      in.position(deliver.eventsEnd() + 1);
      in.readLong("originProducer");
      long origin = in.readLong("originSequence");
      List<Long> numbers = TestEvents.numbers(deliver.events());
      for (int i = 0; i < numbers.size(); i++) {
        events.add(
            new StoredEvent(
                view.position() + i,
                deliver.topic(),
                deliver.sequence() + i,
                origin + i,
                view.expiry(),
                numbers.get(i)));
      }
    }
  }

  /** Returns how many rows of a kind there are. */
  int count(byte kind) {
    return rows.all().subMap(new byte[] {kind}, true, new byte[] {(byte) (kind + 1)}, false).size();
  }

  /** Returns all rows as text, to be compared. */
  static List<String> text(MemoryRows rows) {
    List<String> lines = new ArrayList<>();
    rows.all().forEach((key, value) -> lines.add(Arrays.toString(key) + Arrays.toString(value)));
    return lines;
  }
}
