package io.eventbus.journal.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.DeadEvent;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.RecordResult.Redriven;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.RecordResult.Settled;
import io.eventbus.journal.RecordResult.Taken;
import io.eventbus.journal.Settlement;
import io.eventbus.journal.Settlement.Outcome;
import io.eventbus.journal.TakenRun;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.AttachCursor;
import io.eventbus.journal.codec.ShardRecord.CreateCursor;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.DeleteCursor;
import io.eventbus.journal.codec.ShardRecord.DeleteJournal;
import io.eventbus.journal.codec.ShardRecord.DetachCursor;
import io.eventbus.journal.codec.ShardRecord.JoinCursor;
import io.eventbus.journal.codec.ShardRecord.LeaveCursor;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.Redrive;
import io.eventbus.journal.codec.ShardRecord.SettleCursor;
import io.eventbus.journal.codec.ShardRecord.SettleEvents;
import io.eventbus.journal.codec.ShardRecord.TakeEvents;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.rows.MemoryRows;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.protocol.TopicFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class SharedCursorRulesTest {
  private static final TopicFilter FILTER = TopicFilter.parse("a.>");
  private static final ShardLimits LIMITS = new ShardLimits(3, 4, 2, 6, 8, 1_000, 3, 100_000);
  private static final long HOUR = 60L * 60 * 1000;

  private ShardFixture shard = new ShardFixture(LIMITS, new MemoryRows(), Shard.CACHE_BYTES);
  private long serial;
  private long stamp = 1_000_000;
  private long published;

  private RecordResult apply(ShardRecord record) {
    return apply(List.of(record)).get(0);
  }

  private List<RecordResult> apply(List<ShardRecord> records) {
    return shard.apply(stamp, records);
  }

  /** Creates journal 1 with events and the shared cursor c, which begins with the first one. */
  private void begin(int events) {
    apply(new CreateJournal(ShardFixture.definition("one", "a.>", KeepPolicy.ALL), 0));
    publish(events);
    assertThat(apply(create("c"))).isEqualTo(new CursorState(1, 0));
  }

  private static CreateCursor create(String name) {
    return new CreateCursor(1, name, FILTER, CursorMode.SHARED, CursorStart.FIRST, 0);
  }

  private Publish publication(int count) {
    Publish publish =
        new Publish(
            TestEntries.head("a.x", "p", published + 1),
            TestEntries.numbered(published + 1, count, 5));
    published += count;
    return publish;
  }

  @Test
  void aRecordThatComesTwiceDoesNothingTheSecondTime() {
    begin(4);
    long one = join(5);
    long two = join(5);
    TakeEvents taking = taking(one, 1);
    SettleEvents released = settlement(one, 1, 1, 1, Outcome.RELEASE);
    assertThat(((Taken) apply(taking)).runs()).containsExactly(run(1, 1, 1));
    assertThat(apply(released)).isEqualTo(new Settled(0));
    assertThat(take(one, 1)).containsExactly(run(1, 1, 1));
    // Both were sent to a new leader again.
    assertThat(((Taken) apply(taking)).runs()).isEmpty();
    assertThat(apply(released)).isEqualTo(new Settled(0));
    assertThat(take(two, 1)).as("not the one that is in flight").containsExactly(run(2, 2, 1));
    assertThat(settle(one, 1, 1, 1, Outcome.DONE)).as("ignored").isZero();
    assertThat(runs(one)).isEmpty();
  }

  private void publish(int count) {
    if (count > 0) {
      assertThat(apply(publication(count))).isInstanceOf(Published.class);
    }
  }

  private long join(int maxAttempts) {
    return ((CursorState) apply(new JoinCursor(1, "c", "bus-1", maxAttempts))).epoch();
  }

  private TakeEvents taking(long epoch, int max) {
    return new TakeEvents(1, "c", epoch, ++serial, max);
  }

  private List<TakenRun> take(long epoch, int max) {
    return ((Taken) apply(taking(epoch, max))).runs();
  }

  private static TakenRun run(long from, long to, int attempt) {
    return new TakenRun(from, to, attempt);
  }

  private SettleEvents settlement(long epoch, long from, long to, int attempt, Outcome outcome) {
    return new SettleEvents(
        1, "c", epoch, ++serial, List.of(new Settlement(from, to, attempt, outcome, -1, "why")));
  }

  private int settle(long epoch, long from, long to, int attempt, Outcome outcome) {
    return ((Settled) apply(settlement(epoch, from, to, attempt, outcome))).ignored();
  }

  private CursorRow cursor() {
    return CursorRow.decode(Objects.requireNonNull(shard.rows.get(Keys.cursor(1, "c"))));
  }

  private SharedCounts counts() {
    return cursor().shared();
  }

  private List<TakenRun> runs(long epoch) {
    return ConsumerRow.decode(
            Objects.requireNonNull(shard.rows.get(Keys.consumer(1, cursor().number(), epoch))))
        .runs();
  }

  private List<WaitingRun> waiting() {
    List<WaitingRun> found = new ArrayList<>();
    try (RowScan scan = shard.rows.scan(Keys.first(Keys.WAITING, 1), Keys.end(Keys.WAITING, 1))) {
      while (scan.next()) {
        found.add(WaitingRun.decode(scan.key(), scan.value()));
      }
    }
    return found;
  }

  private List<DeadEvent> dead() {
    List<DeadEvent> found = new ArrayList<>();
    try (RowScan scan = shard.rows.scan(Keys.first(Keys.DEAD, 1), Keys.end(Keys.DEAD, 1))) {
      while (scan.next()) {
        DeadRow row = DeadRow.decode(scan.value());
        found.add(
            new DeadEvent(Keys.lastNumber(scan.key()), row.attempts(), row.reason(), row.stamp()));
      }
    }
    return found;
  }

  private static void refused(RecordResult result, JournalRefusalReason reason, String message) {
    assertThat(result).isEqualTo(new Refused(reason, message));
  }

  @Test
  void consumersGetTheHeadAndEpochsOfTheirOwn() {
    begin(4);
    assertThat(apply(new JoinCursor(1, "c", "bus-1", 5))).isEqualTo(new CursorState(2, 0));
    assertThat(take(2, 9)).containsExactly(run(1, 2, 1));
    assertThat(apply(new JoinCursor(1, "c", "bus-2", 5))).isEqualTo(new CursorState(3, 2));
    assertThat(apply(create("c"))).isEqualTo(new CursorState(3, 2));
    assertThat(counts()).isEqualTo(new SharedCounts(2, 2, 2, 0, 0, 0));
    assertThat(cursor().number()).isEqualTo(1);
    assertThat(join(1)).isEqualTo(4);
    refused(
        apply(new JoinCursor(1, "c", "bus-3", 5)),
        JournalRefusalReason.STORE_FULL,
        "consumers of cursor c of one (journal 1): 4 (expected: at most 3)");
    assertThat(apply(new LeaveCursor(1, "c", 4, false))).isEqualTo(new Done());
    assertThat(join(1)).isEqualTo(5);
  }

  @Test
  void fewEventsAreSpreadAndManyAreTakenInLargePieces() {
    begin(10);
    long one = join(5);
    long two = join(5);
    assertThat(take(one, 100)).as("10 of 4 halves").containsExactly(run(1, 3, 1));
    assertThat(take(two, 100)).as("7 of 4 halves").containsExactly(run(4, 5, 1));
    assertThat(take(one, 1)).as("no more than wanted").containsExactly(run(6, 6, 1));
    assertThat(take(one, 100)).containsExactly(run(7, 7, 1));
    for (int i = 8; i <= 10; i++) {
      assertThat(take(two, 100)).containsExactly(run(i, i, 1));
    }
    assertThat(take(two, 100)).isEmpty();
    assertThat(runs(one)).containsExactly(run(1, 3, 1), run(6, 7, 1));
    assertThat(runs(two)).containsExactly(run(4, 5, 1), run(8, 10, 1));

    publish(5_000);
    assertThat(take(one, 100_000)).as("what it may have").containsExactly(run(11, 1_029, 1));
    assertThat(take(one, 100_000)).as("it has 1,024").isEmpty();
    assertThat(settle(one, 1, 3, 1, Outcome.DONE)).isZero();
    assertThat(take(one, 100_000)).containsExactly(run(1_030, 1_032, 1));
    assertThat(take(two, 500)).containsExactly(run(1_033, 1_532, 1));
  }

  @Test
  void whatIsDoneIsGoneAndTheFloorFollowsWhenNothingIsLeft() {
    begin(6);
    long one = join(5);
    assertThat(take(one, 9)).containsExactly(run(1, 3, 1));
    assertThat(settle(one, 2, 2, 1, Outcome.DONE)).isZero();
    assertThat(runs(one)).containsExactly(run(1, 1, 1), run(3, 3, 1));
    assertThat(counts()).isEqualTo(new SharedCounts(3, 1, 2, 0, 0, 0));
    assertThat(cursor().floor()).isZero();
    assertThat(settle(one, 1, 3, 1, Outcome.DONE)).as("2 is settled").isEqualTo(1);
    assertThat(runs(one)).isEmpty();
    assertThat(cursor().floor()).isEqualTo(3);
    assertThat(take(one, 9)).containsExactly(run(4, 5, 1));
  }

  @Test
  void settlementsOfOthersOrOfAnotherDeliveryAreLeftOut() {
    begin(8);
    long one = join(5);
    long two = join(5);
    assertThat(take(one, 9)).containsExactly(run(1, 2, 1));
    assertThat(take(two, 9)).containsExactly(run(3, 4, 1));
    List<String> before = ShardFixture.text(shard.rows);
    assertThat(settle(one, 3, 4, 1, Outcome.DONE)).as("of another").isEqualTo(2);
    assertThat(settle(one, 5, 6, 1, Outcome.DONE)).as("not taken").isEqualTo(2);
    assertThat(settle(one, 1, 2, 2, Outcome.DONE)).as("of another delivery").isEqualTo(2);
    assertThat(settle(one, 3, Long.MAX_VALUE, 1, Outcome.DONE)).isEqualTo(Integer.MAX_VALUE);
    assertThat(ShardFixture.text(shard.rows)).isEqualTo(before);
    assertThat(settle(one, 1, Long.MAX_VALUE, 1, Outcome.DONE)).isEqualTo(Integer.MAX_VALUE);
    assertThat(counts()).isEqualTo(new SharedCounts(4, 2, 2, 0, 0, 0));
    for (ShardRecord record :
        List.of(settlement(9, 3, 4, 1, Outcome.DONE), settlement(1, 3, 4, 1, Outcome.DONE))) {
      long epoch = ((SettleEvents) record).epoch();
      refused(
          apply(record),
          JournalRefusalReason.STALE_EPOCH,
          "epoch: "
              + epoch
              + " for cursor c of one (journal 1) (expected: that of a consumer, which has"
              + " joined)");
    }
  }

  @Test
  void whatFailedComesAgainLaterAndLaterAndThenIsDead() {
    begin(1);
    long one = join(6);
    assertThat(take(one, 9)).containsExactly(run(1, 1, 1));
    long[] delays = {1_000, 5_000, 30_000, 120_000, 120_000};
    for (int attempt = 1; attempt <= delays.length; attempt++) {
      assertThat(settle(one, 1, 1, attempt, Outcome.RETRY)).isZero();
      long due = stamp + delays[attempt - 1];
      assertThat(waiting()).containsExactly(new WaitingRun(due, run(1, 1, attempt + 1)));
      stamp = due - 1;
      assertThat(apply(taking(one, 9))).isEqualTo(new Taken(List.of(), due));
      stamp = due;
      assertThat(apply(taking(one, 9))).isEqualTo(new Taken(List.of(run(1, 1, attempt + 1)), 0));
    }
    assertThat(settle(one, 1, 1, 6, Outcome.RETRY)).isZero();
    assertThat(waiting()).isEmpty();
    assertThat(dead()).containsExactly(new DeadEvent(1, 6, "why", stamp));
    assertThat(counts()).isEqualTo(new SharedCounts(1, 1, 0, 0, 0, 1));
    stamp += 8 * 24 * HOUR;
    assertThat(take(one, 9)).isEmpty();
  }

  @Test
  void aConsumerSaysWhenAnEventComesAgain() {
    begin(4);
    long one = join(5);
    assertThat(take(one, 9)).containsExactly(run(1, 2, 1));
    RecordResult settled =
        apply(
            new SettleEvents(
                1,
                "c",
                one,
                ++serial,
                List.of(
                    new Settlement(1, 1, 1, Outcome.RETRY, Settlement.MAX_DELAY_MILLIS, ""),
                    new Settlement(2, 2, 1, Outcome.RETRY, 0, ""))));
    assertThat(settled).isEqualTo(new Settled(0));
    assertThat(shard.changes.released()).containsExactly(1);
    assertThat(apply(taking(one, 2)))
        .as("what was given back comes first")
        .isEqualTo(
            new Taken(List.of(run(2, 2, 2), run(3, 3, 1)), stamp + Settlement.MAX_DELAY_MILLIS));
    assertThat(shard.changes.released()).isEmpty();
  }

  @Test
  void whatIsRejectedOrReleasedIsDeadOrTakenByOthers() {
    begin(4);
    long one = join(5);
    long two = join(5);
    assertThat(take(one, 9)).containsExactly(run(1, 1, 1));
    assertThat(take(one, 9)).containsExactly(run(2, 2, 1));
    assertThat(settle(one, 1, 1, 1, Outcome.REJECT)).isZero();
    assertThat(shard.changes.released()).isEmpty();
    assertThat(dead()).containsExactly(new DeadEvent(1, 1, "why", stamp));
    assertThat(settle(one, 2, 2, 1, Outcome.RELEASE)).isZero();
    assertThat(shard.changes.released()).containsExactly(1);
    assertThat(take(two, 1)).as("no attempt").containsExactly(run(2, 2, 1));
    assertThat(counts()).isEqualTo(new SharedCounts(2, 2, 1, 0, 0, 1));
    assertThat(cursor().floor()).isZero();
  }

  @Test
  void whatAConsumerHasWhenItLeavesWaitsForOthers() {
    begin(8);
    long one = join(2);
    long two = join(2);
    assertThat(take(one, 9)).containsExactly(run(1, 2, 1));
    assertThat(settle(one, 2, 2, 1, Outcome.RETRY)).isZero();
    stamp += 1_000;
    assertThat(take(one, 9)).containsExactly(run(2, 2, 2), run(3, 3, 1));

    assertThat(apply(new LeaveCursor(1, "c", one, true))).isEqualTo(new Done());
    assertThat(shard.changes.released()).containsExactly(1);
    assertThat(dead()).containsExactly(new DeadEvent(2, 2, "its consumer was lost", stamp));
    assertThat(waiting())
        .containsExactly(new WaitingRun(stamp, run(1, 1, 2)), new WaitingRun(stamp, run(3, 3, 2)));
    assertThat(counts()).isEqualTo(new SharedCounts(3, 1, 0, 2, stamp, 1));
    assertThat(shard.count(Keys.CONSUMER)).isEqualTo(1);
    List<String> before = ShardFixture.text(shard.rows);
    assertThat(apply(new LeaveCursor(1, "c", one, true))).as("again").isEqualTo(new Done());
    assertThat(ShardFixture.text(shard.rows)).isEqualTo(before);

    assertThat(take(two, 3)).containsExactly(run(1, 1, 2), run(3, 3, 2), run(4, 4, 1));
    assertThat(apply(new LeaveCursor(1, "c", two, false))).isEqualTo(new Done());
    assertThat(waiting())
        .as("no attempts")
        .containsExactly(
            new WaitingRun(stamp, run(1, 1, 2)),
            new WaitingRun(stamp, run(3, 3, 2)),
            new WaitingRun(stamp, run(4, 4, 1)));
    assertThat(counts().consumers()).isZero();
  }

  @Test
  void theMoreOftenEventsHaveFailedTheFewerAreTakenTogether() {
    begin(2_000);
    long one = join(1_000);
    assertThat(take(one, 900)).containsExactly(run(1, 900, 1));
    assertThat(settle(one, 1, 900, 1, Outcome.RELEASE)).isZero();
    assertThat(take(one, 300)).containsExactly(run(1, 256, 1), run(901, 944, 1));
    apply(new LeaveCursor(1, "c", one, true));
    long two = join(1_000);
    assertThat(take(two, 300))
        .containsExactly(run(1, 16, 2), run(257, 512, 1), run(901, 916, 2), run(945, 956, 1));
    apply(new LeaveCursor(1, "c", two, true));
    long three = join(1_000);
    assertThat(take(three, 100))
        .containsExactly(run(1, 1, 3), run(17, 32, 2), run(257, 272, 2), run(513, 579, 1));
    apply(new LeaveCursor(1, "c", three, true));
    long four = join(1_000);
    assertThat(take(four, 4))
        .containsExactly(run(1, 1, 4), run(2, 2, 3), run(17, 17, 3), run(33, 33, 2));
    assertThat(counts()).isEqualTo(new SharedCounts(956, 1, 4, 952, stamp, 0));
  }

  @Test
  void atMost64RunsAreTakenTogether() {
    begin(1_000);
    long one = join(5);
    assertThat(take(one, 300)).containsExactly(run(1, 300, 1));
    for (int i = 2; i <= 300; i += 2) {
      assertThat(settle(one, i, i, 1, Outcome.DONE)).isZero();
    }
    apply(new LeaveCursor(1, "c", one, false));
    long two = join(5);
    assertThat(take(two, 100)).hasSize(64).endsWith(run(127, 127, 1));
    assertThat(take(two, 100)).hasSize(64).startsWith(run(129, 129, 1));
    assertThat(take(two, 100))
        .hasSize(23)
        .startsWith(run(257, 257, 1))
        .endsWith(run(299, 299, 1), run(301, 378, 1));
  }

  @Test
  void whileManyEventsAreUnfinishedNoOthersAreTaken() {
    shard = new ShardFixture(ShardFixture.SMALL, new MemoryRows(), Shard.CACHE_BYTES);
    begin(40);
    long one = join(5);
    assertThat(take(one, 6)).containsExactly(run(1, 6, 1));
    settle(one, 1, 3, 1, Outcome.REJECT);
    settle(one, 4, 4, 1, Outcome.RETRY);
    assertThat(take(one, 1)).as("4 of 5").containsExactly(run(7, 7, 1));
    settle(one, 7, 7, 1, Outcome.RETRY);
    assertThat(apply(taking(one, 1))).isEqualTo(new Taken(List.of(), stamp + 1_000));
    stamp += 1_000;
    assertThat(take(one, 5))
        .as("those that were given back make room")
        .containsExactly(run(4, 4, 2), run(7, 7, 2), run(8, 10, 1));
    settle(one, 8, 9, 1, Outcome.REJECT);
    assertThat(take(one, 5)).isEmpty();
    assertThat(apply(new Redrive(1, "c", 1, 1, true))).isEqualTo(new Redriven(1, 0));
    assertThat(shard.changes.released()).as("room").containsExactly(1);
    assertThat(take(one, 1)).containsExactly(run(11, 11, 1));
  }

  @Test
  void deadEventsComeAgainAsIfTheyWereNew() {
    begin(2_500);
    long one = join(5);
    assertThat(take(one, 1_024)).hasSize(1);
    settle(one, 1, 1_024, 1, Outcome.REJECT);
    assertThat(take(one, 1_024)).containsExactly(run(1_025, 1_762, 1));
    settle(one, 1_025, 1_030, 1, Outcome.REJECT);
    assertThat(counts().dead()).isEqualTo(1_030);

    assertThat(apply(new Redrive(1, "c", 11, 20, true))).isEqualTo(new Redriven(10, 0));
    assertThat(apply(new Redrive(1, "c", 1, Long.MAX_VALUE, false)))
        .isEqualTo(new Redriven(1_000, 1_011));
    assertThat(shard.changes.released()).containsExactly(1);
    assertThat(waiting())
        .containsExactly(
            new WaitingRun(stamp, run(1, 10, 1)), new WaitingRun(stamp, run(21, 1_010, 1)));
    assertThat(counts()).isEqualTo(new SharedCounts(1_762, 1, 732, 1_000, stamp, 20));
    assertThat(apply(new Redrive(1, "c", 1_011, Long.MAX_VALUE, false)))
        .isEqualTo(new Redriven(20, 0));
    assertThat(dead()).isEmpty();
    assertThat(take(one, 266)).containsExactly(run(1, 10, 1), run(21, 276, 1));
    List<String> before = ShardFixture.text(shard.rows);
    assertThat(apply(new Redrive(1, "c", 1, 9, false))).isEqualTo(new Redriven(0, 0));
    assertThat(ShardFixture.text(shard.rows)).isEqualTo(before);
  }

  @Test
  void recordsOfOneEntrySeeEachOther() {
    begin(40);
    long one = join(5);
    long two = join(5);
    long three = join(5);
    assertThat(take(one, 7)).containsExactly(run(1, 7, 1));
    assertThat(
            apply(
                List.of(
                    settlement(one, 1, 4, 1, Outcome.RELEASE),
                    taking(two, 2),
                    taking(three, 1),
                    settlement(two, 1, 2, 1, Outcome.RELEASE),
                    taking(three, 4),
                    new LeaveCursor(1, "c", one, true),
                    taking(two, 2),
                    publication(100),
                    taking(two, 2))))
        .containsExactly(
            new Settled(0),
            new Taken(List.of(run(1, 2, 1)), 0),
            new Taken(List.of(run(3, 3, 1)), 0),
            new Settled(0),
            new Taken(List.of(run(1, 2, 1), run(4, 4, 1), run(8, 8, 1)), 0),
            new Done(),
            new Taken(List.of(run(5, 6, 2)), 0),
            new Published(140, false),
            new Taken(List.of(run(7, 7, 2), run(9, 9, 1)), 0));
    assertThat(waiting()).isEmpty();
    assertThat(runs(two)).containsExactly(run(5, 7, 2), run(9, 9, 1));
    assertThat(runs(three)).containsExactly(run(1, 4, 1), run(8, 8, 1));
    assertThat(counts()).isEqualTo(new SharedCounts(9, 2, 9, 0, 0, 0));
  }

  @Test
  void storedRowsAreTakenOnceByTheRecordsOfAnEntry() {
    begin(60);
    long one = join(5);
    long two = join(5);
    assertThat(take(one, 12)).containsExactly(run(1, 12, 1));
    for (int i = 2; i <= 12; i += 2) {
      settle(one, i, i, 1, Outcome.DONE);
    }
    apply(new LeaveCursor(1, "c", one, false));
    // Stored: 1, 3, 5, 7, 9 and 11. The entry takes, gives back with the same key, and takes again.
    List<RecordResult> results =
        apply(
            List.of(
                taking(two, 2),
                taking(two, 2),
                settlement(two, 3, 5, 1, Outcome.RELEASE),
                taking(two, 1),
                taking(two, 9)));
    assertThat(results)
        .containsExactly(
            new Taken(List.of(run(1, 1, 1), run(3, 3, 1)), 0),
            new Taken(List.of(run(5, 5, 1), run(7, 7, 1)), 0),
            new Settled(1),
            new Taken(List.of(run(3, 3, 1)), 0),
            new Taken(List.of(run(5, 5, 1), run(9, 9, 1), run(11, 11, 1), run(13, 18, 1)), 0));
    assertThat(waiting()).isEmpty();
    assertThat(counts()).isEqualTo(new SharedCounts(18, 1, 12, 0, 0, 0));
  }

  @Test
  void askingInVainWritesNothingForAnHour() {
    begin(1);
    long one = join(5);
    assertThat(take(one, 9)).hasSize(1);
    long used = stamp;
    List<String> before = cursorRows();
    stamp += HOUR - 1;
    assertThat(take(one, 9)).isEmpty();
    assertThat(shard.changes.journals()).isEmpty();
    assertThat(settle(one, 5, 5, 1, Outcome.DONE)).isEqualTo(1);
    assertThat(shard.changes.journals()).isEmpty();
    assertThat(cursorRows()).isEqualTo(before);
    assertThat(cursor().stamp()).isEqualTo(used);
    stamp++;
    assertThat(take(one, 9)).isEmpty();
    assertThat(cursor().stamp()).isEqualTo(stamp);
    stamp += HOUR;
    assertThat(settle(one, 5, 5, 1, Outcome.DONE)).isEqualTo(1);
    assertThat(cursor().stamp()).isEqualTo(stamp);
    stamp++;
    assertThat(settle(one, 1, 1, 1, Outcome.DONE)).isZero();
    assertThat(cursor().stamp()).isEqualTo(stamp);
    assertThat(shard.changes.journals()).containsExactly(1);
  }

  /** Returns all rows but the counters of the shard, which has its time. */
  private List<String> cursorRows() {
    MemoryRows copy = shard.rows.copy();
    copy.delete(Keys.shard());
    copy.commit();
    return ShardFixture.text(copy);
  }

  @Test
  void withACursorAllOfItsRowsGo() {
    begin(40);
    long one = join(5);
    long two = join(5);
    assertThat(take(one, 4)).hasSize(1);
    settle(one, 1, 1, 1, Outcome.REJECT);
    settle(one, 3, 3, 1, Outcome.RETRY);
    apply(new CreateCursor(1, "d", FILTER, CursorMode.SHARED, CursorStart.FIRST, 0));
    long other = ((CursorState) apply(new JoinCursor(1, "d", "bus-1", 5))).epoch();
    assertThat(((Taken) apply(new TakeEvents(1, "d", other, ++serial, 2))).runs()).hasSize(1);
    apply(
        new SettleEvents(
            1,
            "d",
            other,
            ++serial,
            List.of(
                new Settlement(1, 1, 1, Outcome.REJECT, -1, ""),
                new Settlement(2, 2, 1, Outcome.RETRY, -1, ""))));
    assertThat(shard.count(Keys.CONSUMER)).isEqualTo(3);

    List<RecordResult> results =
        apply(
            List.of(
                settlement(one, 4, 4, 1, Outcome.REJECT),
                taking(two, 2),
                new LeaveCursor(1, "c", one, true),
                new DeleteCursor(1, "c", 0),
                create("c"),
                new JoinCursor(1, "c", "bus-1", 5),
                taking(two, 2)));
    assertThat(results.get(6)).isInstanceOf(Refused.class);
    assertThat(counts()).isEqualTo(new SharedCounts(0, 1, 0, 0, 0, 0));
    assertThat(shard.count(Keys.CONSUMER)).as("of d, and the new one").isEqualTo(2);
    assertThat(shard.count(Keys.WAITING)).isEqualTo(1);
    assertThat(shard.count(Keys.DEAD)).isEqualTo(1);
    assertThat(apply(new TakeEvents(1, "d", other, ++serial, 1))).isInstanceOf(Taken.class);
    shard.restart();
    refused(
        apply(taking(one, 1)),
        JournalRefusalReason.STALE_EPOCH,
        "epoch: 2 for cursor c of one (journal 1) (expected: that of a consumer, which has joined)");

    assertThat(apply(new DeleteJournal(1))).isEqualTo(new Done());
    for (byte kind : new byte[] {Keys.CURSOR, Keys.CONSUMER, Keys.WAITING, Keys.DEAD}) {
      assertThat(shard.count(kind)).isZero();
    }
  }

  @Test
  void aConsumerThatJoinsKeepsItsCursorFromBeingDeletedByTheOldEpoch() {
    begin(1);
    long one = join(5);
    refused(
        apply(new DeleteCursor(1, "c", one - 1)),
        JournalRefusalReason.STALE_EPOCH,
        "epoch: 1 for cursor c of one (journal 1) (expected: 2)");
    assertThat(apply(new DeleteCursor(1, "c", one))).isEqualTo(new Done());
    assertThat(shard.count(Keys.CONSUMER)).isZero();
  }

  @Test
  void eachModeHasItsRecords() {
    begin(4);
    apply(new CreateCursor(1, "x", FILTER, CursorMode.EXCLUSIVE, CursorStart.FIRST, 0));
    for (ShardRecord record :
        List.of(
            new AttachCursor(1, "c", "one", 0),
            new DetachCursor(1, "c", 1),
            new SettleCursor(1, "c", 1, 0))) {
      refused(
          apply(record),
          JournalRefusalReason.CURSOR_EXISTS,
          "mode: SHARED of cursor c of one (journal 1) (expected: EXCLUSIVE)");
    }
    for (ShardRecord record : records(1, "x")) {
      refused(
          apply(record),
          JournalRefusalReason.CURSOR_EXISTS,
          "mode: EXCLUSIVE of cursor x of one (journal 1) (expected: SHARED)");
    }
    refused(
        apply(new CreateCursor(1, "c", FILTER, CursorMode.EXCLUSIVE, CursorStart.FIRST, 0)),
        JournalRefusalReason.CURSOR_EXISTS,
        "cursor: c of one (journal 1) has the filter a.> and the mode SHARED (expected: a new"
            + " name, or this filter and mode)");
    for (ShardRecord record : records(1, "y")) {
      refused(
          apply(record),
          JournalRefusalReason.NO_CURSOR,
          "cursor: y (expected: a cursor of one (journal 1))");
    }
    for (ShardRecord record : records(9, "x")) {
      assertThat(((Refused) apply(record)).reason()).isEqualTo(JournalRefusalReason.NO_JOURNAL);
    }
  }

  private static List<ShardRecord> records(int journal, String name) {
    return List.of(
        new JoinCursor(journal, name, "bus-1", 5),
        new LeaveCursor(journal, name, 1, true),
        new TakeEvents(journal, name, 1, 1, 1),
        new SettleEvents(journal, name, 1, 1, List.of()),
        new Redrive(journal, name, 1, 1, false));
  }
}
