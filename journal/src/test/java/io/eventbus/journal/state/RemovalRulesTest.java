package io.eventbus.journal.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.RecordResult.Purged;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.RecordResult.Trimmed;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.ExpireProducers;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.Purge;
import io.eventbus.journal.codec.ShardRecord.Trim;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.rows.DamagedStoreException;
import io.eventbus.journal.rows.MemoryRows;
import io.eventbus.journal.state.ShardFixture.StoredEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RemovalRulesTest {
  private static final int ALL = 1;
  private static final int LATEST = 2;

  private final ShardFixture shard =
      new ShardFixture(ShardLimits.DEFAULT, new MemoryRows(), Shard.CACHE_BYTES);
  private long stamp = 1_000;

  @BeforeEach
  void createJournals() {
    apply(new CreateJournal(ShardFixture.definition("all", "a.>", KeepPolicy.ALL), 0));
    apply(new CreateJournal(ShardFixture.definition("latest", "l.>", KeepPolicy.LATEST), 0));
  }

  private RecordResult apply(ShardRecord record) {
    return shard.apply(stamp, List.of(record)).get(0);
  }

  private static Publish publish(int journal, String topic, String producer, long first, int n) {
    return new Publish(
        TestEntries.head(journal, topic, producer, first, first - 1, 0, 0, 0),
        TestEntries.numbered(first, n, 5));
  }

  private List<Long> positions(List<StoredEvent> events) {
    return events.stream().map(StoredEvent::position).toList();
  }

  private void counted(int journal) {
    JournalCounters counters = shard.counters(journal);
    List<StoredEvent> events = journal == ALL ? shard.events(journal) : shard.latest(journal);
    assertThat(counters.events()).isEqualTo(events.size());
    if (journal == ALL) {
      assertThat(counters.bytes())
          .isEqualTo(shard.indexes(journal).stream().mapToLong(ChunkIndex::bytes).sum());
    } else {
      assertThat(counters.bytes())
          .isEqualTo(
              shard
                  .rows
                  .all()
                  .subMap(
                      Keys.first(Keys.LATEST, journal), true, Keys.end(Keys.LATEST, journal), false)
                  .values()
                  .stream()
                  .mapToLong(value -> value.length)
                  .sum());
    }
  }

  @Test
  void onlyWholeChunksAreTrimmed() {
    apply(publish(ALL, "a.x", "p", 1, 3));
    apply(publish(ALL, "a.y", "p", 1, 3));
    apply(publish(ALL, "a.x", "p", 4, 3));

    assertThat(apply(new Trim(ALL, 2))).isEqualTo(new Trimmed(1, true));
    assertThat(apply(new Trim(ALL, 5))).isEqualTo(new Trimmed(4, true));
    assertThat(positions(shard.events(ALL))).containsExactly(4L, 5L, 6L, 7L, 8L, 9L);
    assertThat(apply(new Trim(ALL, 3))).isEqualTo(new Trimmed(4, true));
    counted(ALL);
    assertThat(shard.counters(ALL).topics()).isEqualTo(2);

    assertThat(apply(new Trim(ALL, 99))).isEqualTo(new Trimmed(10, true));
    assertThat(shard.count(Keys.CHUNK)).isZero();
    assertThat(shard.count(Keys.CHUNK_INDEX)).isZero();
    assertThat(shard.counters(ALL).topics()).isZero();
    counted(ALL);
    assertThat(apply(publish(ALL, "a.x", "p", 7, 1))).isEqualTo(new Published(10, false));
    assertThat(apply(new Trim(9, 1)))
        .satisfies(
            result ->
                assertThat(((Refused) result).reason()).isEqualTo(JournalRefusalReason.NO_JOURNAL));
  }

  @Test
  void aTrimThatIsTooLargeForAnEntryLeavesTheRest() {
    List<ShardRecord> many = new ArrayList<>();
    for (int i = 0; i < RemovalRules.MAX_TOPICS; i++) {
      many.add(publish(ALL, "a." + i, "p", 1, 1));
    }
    shard.apply(stamp, many);
    apply(publish(ALL, "a.x", "p", 1, 1));
    apply(publish(ALL, "a.y", "p", 1, 1));
    long all = RemovalRules.MAX_TOPICS + 2L;

    assertThat(apply(new Trim(ALL, all))).isEqualTo(new Trimmed(all, false));
    assertThat(shard.counters(ALL).topics()).isEqualTo(1);
    assertThat(apply(new Trim(ALL, all))).isEqualTo(new Trimmed(all + 1, true));
    assertThat(shard.counters(ALL).topics()).isZero();
  }

  @Test
  void aTrimOfTooManyTopicsWhoseLastEventsWerePurgedLeavesTheRest() {
    int half = 6_000;
    for (int part = 0; part < 2; part++) {
      List<ShardRecord> many = new ArrayList<>();
      for (int i = 0; i < half; i++) {
        many.add(publish(ALL, "a." + part + "." + i, "p", 1, 1));
      }
      shard.apply(stamp, many);
    }
    long all = 2L * half;
    long next = 1;
    long purged = 0;
    while (next > 0) {
      Purged result = (Purged) apply(new Purge(ALL, "", next, all));
      purged += result.events();
      next = result.next();
    }
    assertThat(purged).isEqualTo(all);
    assertThat(shard.counters(ALL).topics()).isEqualTo(all);

    Trimmed trimmed = (Trimmed) apply(new Trim(ALL, all));
    assertThat(trimmed.complete()).isFalse();
    assertThat(trimmed.firstPosition()).isBetween(RemovalRules.MAX_TOPICS + 1L, all);
    assertThat(shard.counters(ALL).topics()).isEqualTo(all - trimmed.firstPosition() + 1);
    assertThat(apply(new Trim(ALL, all))).isEqualTo(new Trimmed(all + 1, true));
    assertThat(shard.counters(ALL).topics()).isZero();
    assertThat(shard.count(Keys.LATEST_POSITION)).isZero();
  }

  @Test
  void ofATopicOnlyTheLastEventIsKept() {
    shard.apply(
        stamp,
        List.of(
            publish(LATEST, "l.x", "p", 1, 3),
            publish(LATEST, "l.y", "p", 1, 1),
            publish(LATEST, "l.x", "q", 1, 2)));
    apply(publish(LATEST, "l.y", "p", 2, 1));

    assertThat(shard.latest(LATEST))
        .containsExactly(
            new StoredEvent(6, "l.x", 2, 2, 0, 2), new StoredEvent(7, "l.y", 2, 2, 0, 2));
    assertThat(shard.count(Keys.CHUNK)).isZero();
    assertThat(shard.count(Keys.LATEST)).isEqualTo(2);
    assertThat(shard.changes.chunks()).hasSize(1);
    counted(LATEST);
    assertThat(shard.counters(LATEST).topics()).isEqualTo(2);
    assertThat(apply(publish(LATEST, "l.x", "p", 1, 3))).isEqualTo(new Published(3, true));
  }

  @Test
  void lastEventsAreTrimmedAndPurged() {
    for (String topic : List.of("l.a", "l.b", "l.c", "l.d")) {
      apply(publish(LATEST, topic, "p", 1, 2));
    }

    assertThat(apply(new Trim(LATEST, 3))).isEqualTo(new Trimmed(4, true));
    assertThat(positions(shard.latest(LATEST))).containsExactly(4L, 6L, 8L);
    counted(LATEST);
    assertThat(apply(new Purge(LATEST, "l.c", 1, 5))).isEqualTo(new Purged(0, 0));
    assertThat(apply(new Purge(LATEST, "l.c", 1, 99))).isEqualTo(new Purged(1, 0));
    assertThat(apply(new Purge(LATEST, "l.c", 1, 99))).isEqualTo(new Purged(0, 0));
    assertThat(apply(new Purge(LATEST, "", 8, 8))).isEqualTo(new Purged(1, 0));
    assertThat(positions(shard.latest(LATEST))).containsExactly(4L);
    counted(LATEST);
    assertThat(shard.counters(LATEST).topics()).isEqualTo(1);
    assertThat(apply(publish(LATEST, "l.c", "p", 3, 1))).isEqualTo(new Published(9, false));
  }

  @Test
  void aTopicOrAPositionIsPurgedAndPositionsStay() {
    shard.apply(stamp, List.of(publish(ALL, "a.x", "p", 1, 3), publish(ALL, "a.y", "p", 1, 2)));
    shard.apply(stamp, List.of(publish(ALL, "a.z", "p", 1, 1)));
    shard.apply(stamp, List.of(publish(ALL, "a.y", "p", 3, 2), publish(ALL, "a.x", "p", 4, 1)));

    assertThat(apply(new Purge(ALL, "", 2, 2))).isEqualTo(new Purged(1, 0));
    assertThat(shard.changes.chunks()).hasSize(1);
    assertThat(positions(shard.events(ALL))).containsExactly(1L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    counted(ALL);
    assertThat(apply(new Purge(ALL, "a.y", 5, 99))).isEqualTo(new Purged(3, 0));
    assertThat(shard.changes.chunks()).hasSize(2);
    assertThat(positions(shard.events(ALL))).containsExactly(1L, 3L, 4L, 6L, 9L);
    assertThat(apply(new Purge(ALL, "a.y", 1, 99))).isEqualTo(new Purged(1, 0));
    assertThat(apply(new Purge(ALL, "a.none", 1, 99))).isEqualTo(new Purged(0, 0));
    counted(ALL);
    assertThat(shard.indexes(ALL)).extracting(ChunkIndex::lastPosition).containsExactly(5L, 6L, 9L);
    assertThat(apply(publish(ALL, "a.y", "p", 3, 2))).isEqualTo(new Published(8, true));
  }

  @Test
  void aTopicWhoseLastEventWasPurgedIsEmptyWhenThatIsTrimmed() {
    apply(publish(ALL, "a.x", "p", 1, 2));
    apply(publish(ALL, "a.y", "p", 1, 2));
    assertThat(apply(new Purge(ALL, "", 4, 4))).isEqualTo(new Purged(1, 0));
    assertThat(apply(new Purge(ALL, "a.y", 1, 99))).isEqualTo(new Purged(1, 0));
    assertThat(shard.counters(ALL).topics()).isEqualTo(2);

    assertThat(apply(new Trim(ALL, 4))).isEqualTo(new Trimmed(5, true));
    assertThat(shard.counters(ALL).topics()).isZero();
    assertThat(shard.count(Keys.LATEST_POSITION)).isZero();
    stamp += 2 * ShardLimits.MIN_PRODUCER_IDLE_MILLIS;
    apply(new ExpireProducers(stamp));
    assertThat(shard.count(Keys.TOPIC)).isZero();
  }

  @Test
  void aPurgeThatIsTooLargeForAnEntrySaysWhereToGoOn() {
    for (int i = 1; i <= RemovalRules.MAX_REWRITTEN + 2; i++) {
      apply(publish(ALL, "a.x", "p", i, 1));
    }

    long next = RemovalRules.MAX_REWRITTEN + 1L;
    assertThat(apply(new Purge(ALL, "a.x", 1, 99)))
        .isEqualTo(new Purged(RemovalRules.MAX_REWRITTEN, next));
    assertThat(apply(new Purge(ALL, "a.x", next, 99))).isEqualTo(new Purged(2, 0));
    assertThat(shard.events(ALL)).isEmpty();
    counted(ALL);
  }

  @Test
  void aPurgeThatMeetsADamagedChunkEndsTheStore() {
    apply(publish(ALL, "a.x", "p", 1, 3));
    byte[] chunk = Objects.requireNonNull(shard.rows.get(Keys.chunk(ALL, 1)));
    chunk[chunk.length - 1] ^= 1;
    shard.rows.put(Keys.chunk(ALL, 1), chunk);
    shard.rows.commit();

    assertThatThrownBy(() -> apply(new Purge(ALL, "", 2, 2)))
        .isInstanceOf(DamagedStoreException.class)
        .hasMessageContaining("chunk of journal 1 at position 1: ")
        .hasMessageContaining("(expected: ");
  }

  /** Replaces the value of a row, beside the entries. */
  private void damage(byte[] key) {
    shard.rows.put(key, new byte[] {99});
    shard.rows.commit();
  }

  @Test
  void aDamagedIndexIsMadeAnewFromItsChunk() {
    apply(publish(ALL, "a.x", "p", 1, 3));
    shard.apply(stamp, List.of(publish(ALL, "a.y", "p", 1, 3), publish(ALL, "a.x", "p", 4, 2)));
    apply(publish(ALL, "a.z", "p", 1, 3));
    assertThat(apply(new Purge(ALL, "", 5, 5))).isEqualTo(new Purged(1, 0));
    damage(Keys.chunkIndex(ALL, 4));

    assertThat(apply(new Purge(ALL, "", 7, 7))).isEqualTo(new Purged(1, 0));
    counted(ALL);
    damage(Keys.chunkIndex(ALL, 4));
    assertThat(apply(new Trim(ALL, 8))).isEqualTo(new Trimmed(9, true));
    assertThat(positions(shard.events(ALL))).containsExactly(9L, 10L, 11L);
    assertThat(shard.counters(ALL).topics()).isEqualTo(1);
    counted(ALL);
  }

  @Test
  void aTrimGoesOnPastAChunkOfWhichNothingCanBeRead() {
    for (int i = 1; i <= 10; i += 3) {
      apply(publish(ALL, "a.x", "p", i, 3));
    }
    damage(Keys.chunkIndex(ALL, 4));
    damage(Keys.chunk(ALL, 4));
    damage(Keys.chunkIndex(ALL, 10));
    shard.rows.delete(Keys.chunk(ALL, 10));
    shard.rows.commit();

    // Up to a position in a damaged chunk, whose end is not known.
    assertThat(apply(new Trim(ALL, 5))).isEqualTo(new Trimmed(4, true));
    assertThat(shard.count(Keys.CHUNK_INDEX)).isEqualTo(3);
    assertThat(apply(new Trim(ALL, 7))).isEqualTo(new Trimmed(7, true));
    assertThat(shard.count(Keys.CHUNK_INDEX)).isEqualTo(2);
    assertThat(shard.count(Keys.CHUNK)).isEqualTo(1);
    assertThat(apply(new Trim(ALL, 11))).isEqualTo(new Trimmed(10, true));
    assertThat(apply(new Trim(ALL, 12))).isEqualTo(new Trimmed(13, true));
    assertThat(shard.count(Keys.CHUNK_INDEX)).isZero();
    assertThat(shard.counters(ALL).events()).isZero();
    assertThat(shard.counters(ALL).bytes()).isZero();
  }

  @Test
  void oneReplicaOfSeveralFailsAtAChunkOfWhichNothingCanBeRead() {
    for (int i = 1; i <= 7; i += 3) {
      apply(publish(ALL, "a.x", "p", i, 3));
    }
    damage(Keys.chunkIndex(ALL, 4));
    shard.restartInCluster();
    assertThat(apply(new Trim(ALL, 3))).as("its chunk is left").isEqualTo(new Trimmed(4, true));
    damage(Keys.chunk(ALL, 4));

    for (ShardRecord record : List.of(new Trim(ALL, 9), new Purge(ALL, "", 1, 9))) {
      shard.restartInCluster();
      assertThatThrownBy(() -> apply(record))
          .isInstanceOf(DamagedStoreException.class)
          .hasMessageContaining("its store is damaged (expected: the row as it was written)");
    }
  }

  @Test
  void theOnlyReplicaPurgesPastAChunkOfWhichNothingCanBeRead() {
    for (int i = 1; i <= 7; i += 3) {
      apply(publish(ALL, "a.x", "p", i, 3));
    }
    damage(Keys.chunkIndex(ALL, 4));
    damage(Keys.chunk(ALL, 4));

    assertThat(apply(new Purge(ALL, "", 1, 9))).isEqualTo(new Purged(6, 0));
  }
}
