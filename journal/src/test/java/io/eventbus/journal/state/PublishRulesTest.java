package io.eventbus.journal.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.FullPolicy;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.JournalCreated;
import io.eventbus.journal.RecordResult.ProducersExpired;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.RecordResult.Released;
import io.eventbus.journal.RecordResult.Trimmed;
import io.eventbus.journal.Retention;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.ChangeJournal;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.ExpireProducers;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.Release;
import io.eventbus.journal.codec.ShardRecord.Tick;
import io.eventbus.journal.codec.ShardRecord.Trim;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.rows.MemoryRows;
import io.eventbus.journal.state.ShardFixture.StoredEvent;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PublishRulesTest {
  private static final long HOUR = 3_600_000;

  private final ShardFixture shard =
      new ShardFixture(ShardFixture.SMALL, new MemoryRows(), Shard.CACHE_BYTES);
  private long stamp = 1_000;

  @BeforeEach
  void createJournal() {
    create("all", "a.>", KeepPolicy.ALL);
  }

  private int create(String name, String filter, KeepPolicy keep) {
    RecordResult result = apply(new CreateJournal(ShardFixture.definition(name, filter, keep), 0));
    return ((JournalCreated) result).journal();
  }

  private RecordResult apply(ShardRecord record) {
    return shard.apply(stamp, List.of(record)).get(0);
  }

  private RecordResult publish(PublishHead head, int count) {
    return apply(new Publish(head, TestEntries.numbered(head.sequence(), count, 5)));
  }

  private RecordResult publish(String topic, String producer, long sequence, int count) {
    return publish(TestEntries.head(topic, producer, sequence), count);
  }

  private RecordResult publish(long sequence, int count, long previous) {
    return publish(TestEntries.head("a.x", "p", sequence, previous, 0), count);
  }

  private RecordResult expecting(String topic, long sequence, long expect) {
    return publish(TestEntries.head(topic, "p", sequence, sequence - 1, expect), 1);
  }

  private static Published at(long position) {
    return new Published(position, false);
  }

  private static Published repeated(long position) {
    return new Published(position, true);
  }

  private static void refused(RecordResult result, JournalRefusalReason reason) {
    assertThat(result).isInstanceOf(Refused.class);
    assertThat(((Refused) result).reason()).as(result.toString()).isEqualTo(reason);
    assertThat(((Refused) result).message()).contains(": ", "(expected: ");
  }

  @Test
  void positionsAreDenseInTheOrderOfEntriesRecordsAndEvents() {
    assertThat(
            shard.apply(
                stamp,
                List.of(
                    new Publish(TestEntries.head("a.y", "p", 7), TestEntries.numbered(1, 2, 5)),
                    new Publish(TestEntries.head("a.x", "p", 1), TestEntries.numbered(3, 1, 5)),
                    new Publish(TestEntries.head("a.y", "p", 9), TestEntries.numbered(4, 1, 5)))))
        .containsExactly(at(2), at(3), at(4));
    assertThat(publish("a.x", "q", 1, 1)).isEqualTo(at(5));

    assertThat(shard.events(1))
        .containsExactly(
            new StoredEvent(1, "a.y", 1, 7, 0, 1),
            new StoredEvent(2, "a.y", 2, 8, 0, 2),
            new StoredEvent(3, "a.x", 1, 1, 0, 3),
            new StoredEvent(4, "a.y", 3, 9, 0, 4),
            new StoredEvent(5, "a.x", 2, 1, 0, 1));
    assertThat(shard.counters(1).events()).isEqualTo(5);
    assertThat(shard.counters(1).topics()).isEqualTo(2);
    assertThat(shard.counters(1).producers()).isEqualTo(3);
    assertThat(shard.counters(1).bytes())
        .isEqualTo(shard.indexes(1).stream().mapToLong(index -> index.bytes()).sum());
  }

  @Test
  void chunksAndJournalsThatChangedAreTold() {
    publish("a.x", "p", 1, 3);

    assertThat(shard.changes.journals()).containsExactly(1);
    assertThat(shard.changes.chunks()).hasSize(1);
    WrittenChunk chunk = shard.changes.chunks().get(0);
    assertThat(chunk.bytes().isReadOnly()).isTrue();
    assertThat(TestEntries.array(chunk.bytes())).isEqualTo(shard.rows.get(Keys.chunk(1, 1)));

    apply(new Tick());
    assertThat(shard.changes.journals()).isEmpty();
    assertThat(shard.changes.chunks()).isEmpty();
  }

  @Test
  void aLargePublicationTakesSeveralChunks() {
    assertThat(
            apply(
                new Publish(TestEntries.head("a.x", "p", 1), TestEntries.numbered(1, 1_000, 100))))
        .isEqualTo(at(1_000));

    assertThat(shard.indexes(1)).hasSizeGreaterThan(3);
    assertThat(shard.events(1))
        .hasSize(1_000)
        .last()
        .isEqualTo(new StoredEvent(1_000, "a.x", 1_000, 1_000, 0, 1_000));
  }

  @Test
  void withoutAJournalOrOutsideItsFiltersNothingIsPublished() {
    refused(
        publish(TestEntries.head(9, "a.x", "p", 1, 0, 0, 0, 0), 1),
        JournalRefusalReason.NO_JOURNAL);
    refused(publish("b.x", "p", 1, 1), JournalRefusalReason.NO_JOURNAL);
    refused(publish("a..x", "p", 1, 1), JournalRefusalReason.NO_JOURNAL);
    refused(publish("a.$ x", "p", 1, 1), JournalRefusalReason.NO_JOURNAL);

    assertThat(shard.counters(1).lastPosition()).isZero();
    assertThat(shard.count(Keys.TOPIC)).isZero();
    assertThat(shard.count(Keys.PRODUCER)).isZero();
  }

  @Test
  void aChangeOfFiltersAppliesToNewEventsAndNotToRepetitions() {
    publish("a.x", "p", 1, 1);
    assertThat(apply(new ChangeJournal(1, ShardFixture.definition("all", "c.>", KeepPolicy.ALL))))
        .isEqualTo(new Done());

    assertThat(publish("a.x", "p", 1, 1)).isEqualTo(repeated(1));
    refused(publish("a.x", "p", 2, 1), JournalRefusalReason.NO_JOURNAL);
    assertThat(publish("c.x", "p", 1, 1)).isEqualTo(at(2));
    apply(new ChangeJournal(1, ShardFixture.definition("all", "a.>", KeepPolicy.ALL)));
    refused(publish("a.x", "p", 2, 1), JournalRefusalReason.NO_JOURNAL);
    assertThat(publish("a.x", "p", 3, 1)).isEqualTo(at(3));
  }

  @Test
  void theFirstNumberOfAProducerIsAny() {
    assertThat(publish("a.x", "p", 501, 2)).isEqualTo(at(2));
    assertThat(publish("a.x", "p", 501, 2)).isEqualTo(repeated(2));
    refused(publish("a.x", "p", 500, 1), JournalRefusalReason.SEQUENCE_GAP);
  }

  @Test
  void aRepetitionGetsItsExactPositionAmongTheLastEightFrames() {
    for (int i = 0; i < 9; i++) {
      publish("a.x", "p", 1 + 2 * i, 2);
      publish("a.y", "q", 1 + i, 1);
    }

    assertThat(publish("a.x", "p", 1, 2)).isEqualTo(repeated(0));
    for (int i = 1; i < 9; i++) {
      assertThat(publish("a.x", "p", 1 + 2 * i, 2)).isEqualTo(repeated(3 * i + 2));
      assertThat(publish("a.x", "p", 1 + 2 * i, 1)).isEqualTo(repeated(3 * i + 1));
    }
    assertThat(shard.counters(1).lastPosition()).isEqualTo(27);
  }

  @Test
  void aFrameThatWasCutInAnotherWayIsKnown() {
    publish("a.x", "p", 1, 3);
    publish("a.x", "p", 4, 3);

    assertThat(publish("a.x", "p", 2, 4)).isEqualTo(repeated(5));
    assertThat(publish("a.x", "p", 1, 6)).isEqualTo(repeated(6));
  }

  @Test
  void aFrameThatOverlapsIsTrimmedToItsNewPart() {
    publish("a.x", "p", 1, 3);

    assertThat(publish("a.x", "p", 2, 5)).isEqualTo(repeated(6));
    assertThat(shard.events(1)).hasSize(6).last().isEqualTo(new StoredEvent(6, "a.x", 6, 6, 0, 6));
    assertThat(publish("a.x", "p", 4, 3)).isEqualTo(repeated(6));
  }

  @Test
  void whatAnAccountHasNoRoomForIsRefusedUnlessItIsARepetition() {
    publish("a.x", "p", 1, 1);

    refused(expecting("a.x", 2, PublishHead.NO_ROOM), JournalRefusalReason.STORE_FULL);
    refused(expecting("a.x", 2, 0), JournalRefusalReason.STORE_FULL);
    refused(expecting("a.y", 1, PublishHead.NO_ROOM), JournalRefusalReason.STORE_FULL);
    assertThat(expecting("a.x", 1, PublishHead.NO_ROOM)).isEqualTo(repeated(1));
    assertThat(expecting("a.x", 3, 0)).isEqualTo(at(2));
  }

  @Test
  void aFrameWhoseOldPartWasRefusedIsNotConfirmed() {
    publish("a.x", "p", 1, 1);
    refused(expecting("a.x", 2, 99), JournalRefusalReason.EXPECTATION_FAILED);

    refused(publish("a.x", "p", 2, 2), JournalRefusalReason.SEQUENCE_GAP);
    refused(publish("a.x", "p", 1, 3), JournalRefusalReason.SEQUENCE_GAP);
    assertThat(shard.counters(1).lastPosition()).isEqualTo(1);
    assertThat(publish("a.x", "p", 3, 1)).isEqualTo(at(2));
  }

  @Test
  void numbersMayBeLeftOutOnlyIfNothingWasSentBetween() {
    publish("a.x", "p", 1, 1);

    refused(publish(4, 1, 3), JournalRefusalReason.SEQUENCE_GAP);
    refused(publish(4, 1, 2), JournalRefusalReason.SEQUENCE_GAP);
    assertThat(publish(4, 1, 1)).isEqualTo(at(2));
    assertThat(publish(8, 1, -1)).isEqualTo(at(3));
    assertThat(publish(10, 1, 0)).isEqualTo(at(4));
  }

  @Test
  void aNumberInsideAnAcceptedGapIsNeverRepeated() {
    publish("a.x", "p", 1, 4);
    publish(8, 1, -1);

    for (long late = 5; late <= 7; late++) {
      refused(publish("a.x", "p", late, 1), JournalRefusalReason.SEQUENCE_GAP);
    }
    refused(publish("a.x", "p", 4, 2), JournalRefusalReason.SEQUENCE_GAP);
    refused(publish("a.x", "p", 5, 5), JournalRefusalReason.SEQUENCE_GAP);
    assertThat(publish("a.x", "p", 3, 1)).isEqualTo(repeated(3));
    assertThat(publish("a.x", "p", 8, 1)).isEqualTo(repeated(5));
    assertThat(shard.counters(1).lastPosition()).isEqualTo(5);
  }

  @Test
  void subscribersAreToldTheNumberOfTheConnectionWhateverDecidesAboutRepetitions() {
    assertThat(named(101, 3, 1, 0)).isEqualTo(at(3));
    // Another connection, whose numbers begin anew, sends the same events and two more.
    assertThat(named(101, 5, 11, 0)).isEqualTo(repeated(5));
    assertThat(named(110, 2, 16, 500)).isEqualTo(at(0));
    // The first of these is known.
    assertThat(named(111, 2, 21, 500)).isEqualTo(repeated(0));
    stamp += 500;
    assertThat(apply(new Release(1, stamp))).isEqualTo(new Released(3, true));

    assertThat(shard.events(1).stream().map(StoredEvent::origin))
        .containsExactly(1L, 2L, 3L, 14L, 15L, 16L, 17L, 22L);
  }

  private RecordResult named(long number, int count, long origin, long delay) {
    PublishHead head = TestEntries.head(1, "a.x", "name", number, -1, 0, 0, delay);
    return publish(TestEntries.withOrigin(head, origin), count);
  }

  @Test
  void ofMoreThanEightGapsTheOldestNumbersAreNotKnownAnyMore() {
    for (int i = 0; i <= ProducerRow.MAX_RANGES; i++) {
      publish(1 + 2 * i, 1, -1);
    }
    for (int i = 0; i < ProducerRow.MAX_FRAMES; i++) {
      publish(18 + i, 1, -1);
    }

    refused(publish("a.x", "p", 1, 1), JournalRefusalReason.SEQUENCE_GAP);
    assertThat(publish("a.x", "p", 3, 1)).isEqualTo(repeated(0));
  }

  @Test
  void theExpectationIsTheLastPositionOfTheTopic() {
    refused(expecting("a.x", 1, 2), JournalRefusalReason.EXPECTATION_FAILED);
    assertThat(expecting("a.x", 2, 1)).isEqualTo(at(1));
    publish("a.y", "p", 1, 1);
    refused(expecting("a.x", 3, 1), JournalRefusalReason.EXPECTATION_FAILED);
    refused(expecting("a.x", 4, 3), JournalRefusalReason.EXPECTATION_FAILED);
    assertThat(expecting("a.x", 5, 2)).isEqualTo(at(3));
    assertThat(expecting("a.z", 1, 1)).isEqualTo(at(4));
  }

  @Test
  void aRefusedNumberIsUsedUpAndGetsTheSameAnswer() {
    refused(expecting("a.x", 1, 2), JournalRefusalReason.EXPECTATION_FAILED);
    publish("a.x", "q", 1, 1);

    // Now it would be as expected.
    refused(expecting("a.x", 1, 2), JournalRefusalReason.EXPECTATION_FAILED);
    assertThat(expecting("a.x", 2, 2)).isEqualTo(at(2));
    // Repetition is checked before expectation.
    assertThat(expecting("a.x", 2, 2)).isEqualTo(repeated(2));
  }

  @Test
  void anEventHasAMaximumSize() {
    int payload = ShardLimits.MAX_EVENT_BYTES - 7;
    assertThat(
            apply(
                new Publish(TestEntries.head("a.x", "p", 1), TestEntries.numbered(1, 1, payload))))
        .isInstanceOf(Published.class);
    refused(
        apply(
            new Publish(TestEntries.head("a.x", "p", 2), TestEntries.numbered(1, 1, payload + 1))),
        JournalRefusalReason.EVENT_TOO_LARGE);
  }

  @Test
  void topicsAreLimitedAndOneThatIsTrimmedMakesRoom() {
    for (int i = 0; i < 4; i++) {
      publish("a." + i, "p", 1, 1);
    }
    refused(publish("a.4", "p", 1, 1), JournalRefusalReason.STORE_FULL);
    assertThat(publish("a.3", "p", 2, 1)).isEqualTo(at(5));

    assertThat(apply(new Trim(1, 1))).isEqualTo(new Trimmed(2, true));
    refused(publish("a.4", "p", 1, 1), JournalRefusalReason.STORE_FULL);
    assertThat(publish("a.4", "p", 2, 1)).isEqualTo(at(6));
    refused(publish("a.5", "p", 1, 1), JournalRefusalReason.STORE_FULL);
  }

  @Test
  void aJournalThatIsFullRefusesOrNot() {
    Retention retention = new Retention(0, 300, 4);
    apply(
        new CreateJournal(
            ShardFixture.definition("full", "b.>", KeepPolicy.ALL, retention, FullPolicy.REFUSE),
            0));
    assertThat(shard.apply(stamp, List.of(inTwo(1, 2, 5), inTwo(3, 3, 5), inTwo(6, 2, 5))))
        .satisfies(
            results -> {
              assertThat(results.get(0)).isEqualTo(at(2));
              refused(results.get(1), JournalRefusalReason.STORE_FULL);
              assertThat(results.get(2)).isEqualTo(at(4));
            });
    refused(apply(inTwo(8, 1, 5)), JournalRefusalReason.STORE_FULL);
    apply(new Trim(2, 4));
    refused(apply(inTwo(9, 1, 300)), JournalRefusalReason.STORE_FULL);
    assertThat(shard.apply(stamp, List.of(inTwo(10, 1, 200), inTwo(11, 1, 100))).get(1))
        .satisfies(result -> refused(result, JournalRefusalReason.STORE_FULL));

    apply(
        new ChangeJournal(
            2,
            ShardFixture.definition(
                "full", "b.>", KeepPolicy.ALL, retention, FullPolicy.DROP_OLD)));
    assertThat(apply(inTwo(12, 9, 50))).isEqualTo(at(14));
  }

  private static Publish inTwo(long sequence, int count, int payload) {
    return new Publish(
        TestEntries.head(2, "b.x", "p", sequence, sequence - 1, 0, 0, 0),
        TestEntries.numbered(sequence, count, payload));
  }

  @Test
  void timeGoesOnlyOn() {
    stamp = 5_000;
    apply(new Tick());
    assertThat(shard.changes.stamp()).isEqualTo(5_000);
    stamp = 4_000;
    publish(TestEntries.head(1, "a.x", "p", 1, 0, 0, 500, 0), 1);

    assertThat(shard.changes.stamp()).isEqualTo(5_000);
    assertThat(shard.indexes(1).get(0).lastStamp()).isEqualTo(5_000);
    assertThat(shard.events(1)).containsExactly(new StoredEvent(1, "a.x", 1, 1, 5_500, 1));
  }

  private RecordResult delayed(String producer, long sequence, int count, long millis, long ttl) {
    return publish(
        TestEntries.head(1, "a.x", producer, sequence, sequence - 1, 0, ttl, millis), count);
  }

  @Test
  void aDelayedEventGetsItsPositionWhenItIsDueAndNeverBefore() {
    assertThat(delayed("p", 1, 2, 500, 100)).isEqualTo(new Published(0, false));
    assertThat(delayed("p", 3, 1, 400, 0)).isEqualTo(new Published(0, false));
    assertThat(delayed("p", 1, 2, 500, 100)).isEqualTo(repeated(0));
    assertThat(publish("a.x", "p", 4, 1)).isEqualTo(at(1));
    assertThat(shard.counters(1).delayed()).isEqualTo(3);

    stamp = 1_399;
    assertThat(apply(new Release(1, 99_999))).isEqualTo(new Released(0, true));
    stamp = 1_450;
    assertThat(apply(new Release(1, 99_999))).isEqualTo(new Released(1, true));
    stamp = 2_000;
    assertThat(apply(new Release(1, 1_499))).isEqualTo(new Released(0, true));
    assertThat(apply(new Release(1, 1_500))).isEqualTo(new Released(2, true));

    assertThat(shard.events(1))
        .containsExactly(
            new StoredEvent(1, "a.x", 1, 4, 0, 4),
            new StoredEvent(2, "a.x", 2, 3, 0, 3),
            new StoredEvent(3, "a.x", 3, 1, 2_100, 1),
            new StoredEvent(4, "a.x", 4, 2, 2_100, 2));
    assertThat(shard.counters(1).delayed()).isZero();
    assertThat(shard.counters(1).delayedBytes()).isZero();
    assertThat(shard.count(Keys.DELAYED)).isZero();
    assertThat(delayed("p", 1, 2, 500, 100)).isEqualTo(repeated(0));
  }

  @Test
  void aReleaseThatIsTooLargeForAnEntryLeavesTheRest() {
    ShardFixture large = new ShardFixture(ShardLimits.DEFAULT, new MemoryRows(), Shard.CACHE_BYTES);
    large.apply(
        1, List.of(new CreateJournal(ShardFixture.definition("l", "a.>", KeepPolicy.ALL), 0)));
    for (int i = 0; i < 3; i++) {
      PublishHead head = TestEntries.head(1, "a.x", "p" + i, 1, 0, 0, 0, 9 + i / 2);
      int count = DelayRules.MAX_EVENTS / 2;
      large.apply(1, List.of(new Publish(head, TestEntries.numbered(1, count, 5))));
    }
    List<ShardRecord> release = List.of(new Release(1, 50));

    assertThat(large.apply(50, release))
        .containsExactly(new Released(DelayRules.MAX_EVENTS, false));
    assertThat(large.apply(50, release))
        .containsExactly(new Released(DelayRules.MAX_EVENTS / 2, true));
    assertThat(large.apply(50, release)).containsExactly(new Released(0, true));
    assertThat(large.counters(1).delayed()).isZero();
  }

  @Test
  void delayedEventsAreLimited() {
    assertThat(delayed("p", 1, 8, 500, 0)).isEqualTo(at(0));
    refused(delayed("p", 9, 1, 500, 0), JournalRefusalReason.STORE_FULL);
    stamp = 1_500;
    apply(new Release(1, 1_500));
    assertThat(delayed("p", 10, 1, 500, 0)).isEqualTo(at(0));
    refused(
        apply(
            new Publish(
                TestEntries.head(1, "a.x", "p", 11, 10, 0, 0, 500),
                TestEntries.numbered(1, 1, 1_000))),
        JournalRefusalReason.STORE_FULL);
  }

  @Test
  void theLongestIdleProducerGoesFirstAndNeverWithinAnHour() {
    stamp = 60_000;
    for (int i = 0; i < 6; i++) {
      publish("a.x", "p" + i, 1, 1);
      stamp += 60_000;
    }
    // The first is heard again, by a repetition.
    assertThat(publish("a.x", "p0", 1, 1)).isEqualTo(repeated(1));
    stamp = 120_000 + HOUR - 1;
    refused(publish("a.x", "new", 1, 1), JournalRefusalReason.STORE_FULL);
    stamp = 120_000 + HOUR;
    assertThat(publish("a.x", "new", 1, 1)).isEqualTo(at(7));
    assertThat(shard.counters(1).producers()).isEqualTo(6);

    // Its numbers are not known any more; those of the others are.
    assertThat(publish("a.x", "p0", 1, 1)).isEqualTo(repeated(1));
    assertThat(publish("a.x", "p2", 1, 1)).isEqualTo(repeated(3));
    stamp = 10 * HOUR;
    assertThat(publish("a.x", "p1", 1, 1)).isEqualTo(at(8));
  }

  @Test
  void aTopicThatGoesWithTheProducerThatMadeRoomComesAgain() {
    publish("a.x", "p", 1, 3);
    for (int i = 1; i < 6; i++) {
      publish("a.y", "p" + i, 1, 1);
    }
    apply(new Trim(1, 3));
    stamp += HOUR;

    assertThat(publish("a.x", "new", 1, 1)).isEqualTo(at(9));
    assertThat(shard.events(1)).last().isEqualTo(new StoredEvent(9, "a.x", 4, 1, 0, 1));
    assertThat(publish("a.x", "new", 1, 1)).isEqualTo(repeated(9));
    apply(new Trim(1, 9));
    stamp += HOUR;
    apply(new ExpireProducers(stamp));
    assertThat(shard.counters(1).topics()).isZero();
    assertThat(shard.count(Keys.TOPIC)).isZero();
    assertThat(shard.count(Keys.TOPIC_NAME)).isZero();
  }

  @Test
  void producersThatWereIdleForLongExpire() {
    publish("a.x", "p", 1, 1);
    stamp += 10_000;
    publish("a.x", "q", 1, 1);
    stamp += HOUR;
    publish("a.x", "r", 1, 1);

    assertThat(apply(new ExpireProducers(1_001))).isEqualTo(new ProducersExpired(1, true));
    assertThat(apply(new ExpireProducers(9 * HOUR))).isEqualTo(new ProducersExpired(1, true));
    assertThat(shard.counters(1).producers()).isEqualTo(1);
    assertThat(shard.count(Keys.PRODUCER)).isEqualTo(1);
    assertThat(shard.count(Keys.PRODUCER_IDLE)).isEqualTo(1);
    assertThat(publish("a.x", "r", 1, 1)).isEqualTo(repeated(3));
  }

  @Test
  void aRepetitionIsKnownAlsoWhenItsEventWasTrimmed() {
    publish("a.x", "p", 1, 1);
    publish("a.y", "q", 1, 1);
    assertThat(apply(new Trim(1, 1))).isEqualTo(new Trimmed(2, true));

    assertThat(publish("a.x", "p", 1, 1)).isEqualTo(repeated(1));
    assertThat(shard.events(1)).hasSize(1);
    assertThat(expecting("a.x", 2, 1)).isEqualTo(at(3));
    assertThat(shard.events(1)).last().isEqualTo(new StoredEvent(3, "a.x", 2, 2, 0, 2));
  }

  @Test
  void aTopicWithoutEventsAndProducersIsForgottenAndComesAgainBehindItsLastNumber() {
    publish("a.x", "p", 1, 5);
    apply(new Trim(1, 5));
    stamp += HOUR;
    assertThat(apply(new ExpireProducers(9 * HOUR))).isEqualTo(new ProducersExpired(1, true));
    assertThat(shard.count(Keys.TOPIC)).isZero();
    assertThat(shard.count(Keys.TOPIC_NAME)).isZero();

    publish("a.x", "p", 1, 1);
    assertThat(shard.events(1)).containsExactly(new StoredEvent(6, "a.x", 6, 1, 0, 1));
  }
}
