package io.eventbus.journal.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Retention;
import io.eventbus.journal.chunk.ChunkIndex;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.rows.MemoryRows;
import io.eventbus.journal.state.RetentionPolicy.Removable;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RetentionPolicyTest {
  private final ShardFixture shard =
      new ShardFixture(ShardLimits.DEFAULT, new MemoryRows(), Shard.CACHE_BYTES);

  /** Publishes chunks of 2, 3 and 4 events at 1,000, 2,000 and 3,000. */
  @BeforeEach
  void publish() {
    apply(1, new CreateJournal(ShardFixture.definition("all", "a.>", KeepPolicy.ALL), 0));
    apply(1_000, new Publish(TestEntries.head("a.x", "p", 1), TestEntries.numbered(1, 2, 5)));
    apply(2_000, new Publish(TestEntries.head("a.x", "p", 3), TestEntries.numbered(3, 3, 5)));
    apply(3_000, new Publish(TestEntries.head("a.x", "p", 6), TestEntries.numbered(6, 4, 5)));
  }

  private void apply(long stamp, ShardRecord record) {
    shard.apply(stamp, List.of(record));
  }

  private long trimUpTo(Retention retention, FullPolicy full, long stamp) {
    JournalDefinition definition =
        ShardFixture.definition("all", "a.>", KeepPolicy.ALL, retention, full);
    Iterator<Removable> oldest = shard.indexes(1).stream().map(Removable::of).iterator();
    return RetentionPolicy.trimUpTo(definition, shard.counters(1), oldest, stamp);
  }

  private long byAge(long millis, long stamp) {
    return trimUpTo(new Retention(millis, 0, 0), FullPolicy.DROP_OLD, stamp);
  }

  private long byEvents(long events) {
    return trimUpTo(new Retention(0, 0, events), FullPolicy.DROP_OLD, 9_000);
  }

  private long byBytes(long bytes) {
    return trimUpTo(new Retention(0, bytes, 0), FullPolicy.DROP_OLD, 9_000);
  }

  @Test
  void withoutBoundsEverythingIsKept() {
    assertThat(trimUpTo(Retention.UNLIMITED, FullPolicy.DROP_OLD, 1L << 40)).isZero();
  }

  @Test
  void chunksGoWhenAllOfTheirEventsAreTooOld() {
    assertThat(byAge(500, 1_500)).isZero();
    assertThat(byAge(500, 1_501)).isEqualTo(2);
    assertThat(byAge(500, 2_600)).isEqualTo(5);
    assertThat(byAge(500, 9_000)).isEqualTo(9);
  }

  @Test
  void asManyEventsAsAreToBeKeptStay() {
    assertThat(byEvents(9)).isZero();
    assertThat(byEvents(8)).isZero();
    assertThat(byEvents(7)).isEqualTo(2);
    assertThat(byEvents(5)).isEqualTo(2);
    assertThat(byEvents(4)).isEqualTo(5);
    assertThat(byEvents(1)).isEqualTo(5);
  }

  @Test
  void asManyBytesAsAreToBeKeptStay() {
    List<ChunkIndex> indexes = shard.indexes(1);
    long last = indexes.get(2).bytes();
    assertThat(byBytes(last + indexes.get(1).bytes() + 1)).isZero();
    assertThat(byBytes(last + indexes.get(1).bytes())).isEqualTo(2);
    assertThat(byBytes(last)).isEqualTo(5);
    assertThat(byBytes(1)).isEqualTo(5);
  }

  @Test
  void aJournalThatRefusesWhenItIsFullLosesOnlyWhatIsTooOld() {
    assertThat(trimUpTo(new Retention(0, 1, 1), FullPolicy.REFUSE, 9_000)).isZero();
    assertThat(trimUpTo(new Retention(500, 1, 1), FullPolicy.REFUSE, 2_600)).isEqualTo(5);
  }
}
