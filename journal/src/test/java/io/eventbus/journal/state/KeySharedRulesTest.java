package io.eventbus.journal.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.ConsumerView;
import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.DeadEvent;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.RecordResult.Redriven;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.SlotEnd;
import io.eventbus.journal.SlotProgress;
import io.eventbus.journal.SlotState;
import io.eventbus.journal.SlotsView;
import io.eventbus.journal.SlotsView.SlotView;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.CreateCursor;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.DeleteCursor;
import io.eventbus.journal.codec.ShardRecord.DeleteJournal;
import io.eventbus.journal.codec.ShardRecord.JoinCursor;
import io.eventbus.journal.codec.ShardRecord.LeaveCursor;
import io.eventbus.journal.codec.ShardRecord.Publish;
import io.eventbus.journal.codec.ShardRecord.Redrive;
import io.eventbus.journal.codec.ShardRecord.SettleEvents;
import io.eventbus.journal.codec.ShardRecord.SettleSlots;
import io.eventbus.journal.codec.ShardRecord.TakeEvents;
import io.eventbus.journal.codec.TestEntries;
import io.eventbus.journal.read.CursorReader;
import io.eventbus.journal.read.SlotReader;
import io.eventbus.journal.rows.MemoryRows;
import io.eventbus.protocol.TopicFilter;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class KeySharedRulesTest {
  private static final TopicFilter FILTER = TopicFilter.parse("a.>");
  private static final ShardLimits LIMITS = new ShardLimits(3, 4, 3, 6, 8, 1_000, 3, 3);

  private ShardFixture shard = new ShardFixture(LIMITS, new MemoryRows(), Shard.CACHE_BYTES);
  private long stamp = 1_000_000;
  private long published;

  private RecordResult apply(ShardRecord record) {
    return shard.apply(stamp, List.of(record)).get(0);
  }

  /** Creates journal 1 with events and the key-shared cursor c, which begins with the first one. */
  private void begin(int events) {
    apply(new CreateJournal(ShardFixture.definition("one", "a.>", KeepPolicy.ALL), 0));
    publish(events);
    assertThat(apply(create("c", CursorStart.FIRST))).isEqualTo(new CursorState(1, 0));
  }

  private static CreateCursor create(String name, CursorStart start) {
    return new CreateCursor(1, name, FILTER, CursorMode.KEY_SHARED, start, 0);
  }

  private void publish(int count) {
    Publish publish =
        new Publish(
            TestEntries.head("a.x", "p", published + 1),
            TestEntries.numbered(published + 1, count, 5));
    published += count;
    assertThat(apply(publish)).isInstanceOf(Published.class);
  }

  private long join() {
    return ((CursorState) apply(new JoinCursor(1, "c", "bus-1", 5))).epoch();
  }

  private void leave(long epoch, boolean failed) {
    assertThat(apply(new LeaveCursor(1, "c", epoch, failed))).isEqualTo(new Done());
  }

  private SlotsView slots(long epoch) {
    return Objects.requireNonNull(SlotReader.slots(shard.rows, 1, "c", epoch));
  }

  private SlotView slot(long epoch, int slot) {
    for (SlotView each : slots(epoch).slots()) {
      if (each.slot() == slot) {
        return each;
      }
    }
    throw new AssertionError("consumer " + epoch + " has no slot " + slot);
  }

  private static SlotProgress progress(
      long serial, long generation, long upTo, Map<Integer, SlotState> exceptions) {
    return new SlotProgress(
        serial, generation, upTo, new TreeMap<>(exceptions), List.of(), new TreeSet<>());
  }

  private static SlotProgress ends(long serial, long upTo, SlotEnd... ends) {
    return new SlotProgress(serial, 1, upTo, new TreeMap<>(), List.of(ends), new TreeSet<>());
  }

  private static SlotProgress giving(long serial, long upTo, Set<Integer> given) {
    return new SlotProgress(serial, 1, upTo, new TreeMap<>(), List.of(), new TreeSet<>(given));
  }

  private RecordResult settle(long epoch, SlotProgress progress) {
    return apply(new SettleSlots(1, "c", epoch, progress));
  }

  private void stored(long epoch, SlotProgress progress) {
    assertThat(settle(epoch, progress)).isEqualTo(new Done());
  }

  private CursorView cursor() {
    return Objects.requireNonNull(CursorReader.cursor(shard.rows, 1, "c"));
  }

  private List<DeadEvent> dead() {
    return CursorReader.deadEvents(shard.rows, 1, "c", 0, 10);
  }

  private static void refused(RecordResult result, JournalRefusalReason reason, String message) {
    assertThat(result).isInstanceOf(Refused.class);
    assertThat(((Refused) result).reason()).isEqualTo(reason);
    assertThat(((Refused) result).message()).startsWith(message);
  }

  @Test
  void theFirstConsumerGetsAllSlotsWhereTheyAre() {
    begin(10);
    assertThat(cursor().floor()).isEqualTo(0);

    long epoch = join();

    assertThat(shard.changes.regrouped()).containsExactly(1);
    SlotsView view = slots(epoch);
    assertThat(view.slots()).hasSize(1_024);
    assertThat(view.generation()).isEqualTo(1);
    assertThat(view.serial()).isZero();
    assertThat(view.slots().get(7))
        .isEqualTo(new SlotView(7, 1, false, SlotState.at(0), List.of()));

    stored(epoch, progress(1, 1, 10, Map.of(7, SlotState.at(4))));

    assertThat(shard.changes.regrouped()).isEmpty();
    assertThat(slot(epoch, 7)).isEqualTo(new SlotView(7, 0, false, SlotState.at(4), List.of()));
    assertThat(slot(epoch, 8).state()).isEqualTo(SlotState.at(10));
    assertThat(cursor().floor()).isEqualTo(4);
    assertThat(cursor().floor()).isEqualTo(4);
    assertThat(cursor().head()).isEqualTo(4);
    assertThat(CursorReader.consumers(shard.rows, 1, "c", 0, 10))
        .containsExactly(new ConsumerView(epoch, "bus-1", 1, 5));
  }

  @Test
  void aCursorOfNewEventsBeginsBehindTheOthers() {
    begin(10);
    apply(create("n", CursorStart.NEW));
    long epoch = ((CursorState) apply(new JoinCursor(1, "n", "bus-1", 5))).epoch();
    assertThat(
            Objects.requireNonNull(SlotReader.slots(shard.rows, 1, "n", epoch))
                .slots()
                .get(0)
                .state())
        .isEqualTo(SlotState.at(10));
  }

  @Test
  void aConsumerGivesUpWhatAnotherIsToHave() {
    begin(10);
    long first = join();
    stored(first, progress(1, 1, 6, Map.of()));
    long second = join();
    assertThat(slots(second).slots()).isEmpty();
    List<Integer> leaving =
        slots(first).slots().stream().filter(SlotView::leaving).map(SlotView::slot).toList();
    assertThat(leaving).hasSize(512);
    int moved = leaving.get(3);
    SlotState failed = new SlotState(6, 8, 3, 0, 0);

    stored(
        first,
        new SlotProgress(
            2, 1, 9, new TreeMap<>(Map.of(moved, failed)), List.of(), new TreeSet<>(leaving)));

    assertThat(shard.changes.regrouped()).containsExactly(1);
    assertThat(slots(first).slots()).hasSize(512).noneMatch(SlotView::leaving);
    assertThat(slots(second).generation()).isEqualTo(1);
    assertThat(slots(second).slots()).hasSize(512).allMatch(each -> each.gift() == 1);
    assertThat(slot(second, moved).state()).isEqualTo(failed);
    assertThat(slot(second, leaving.get(0)).state()).isEqualTo(SlotState.at(9));
    // It gives nothing twice.
    stored(first, giving(3, 9, new TreeSet<>(leaving)));
    assertThat(shard.changes.regrouped()).isEmpty();
    assertThat(slots(second).generation()).isEqualTo(1);
  }

  @Test
  void aProgressSpeaksForNoSlotThatTheConsumerDidNotKnow() {
    begin(10);
    long first = join();
    long second = join();
    int moved =
        slots(first).slots().stream().filter(SlotView::leaving).findFirst().orElseThrow().slot();
    stored(first, giving(1, 2, Set.of(moved)));

    // Made before the second one has seen its slot.
    stored(second, progress(1, 0, 9, Map.of()));
    assertThat(slot(second, moved))
        .isEqualTo(new SlotView(moved, 1, false, SlotState.at(2), List.of()));

    stored(second, progress(2, 1, 9, Map.of()));
    assertThat(slot(second, moved))
        .isEqualTo(new SlotView(moved, 0, false, SlotState.at(9), List.of()));
  }

  @Test
  void aSlotThatComesBackIsNotThatOfBefore() {
    begin(10);
    long first = join();
    long second = join();
    int moved =
        slots(first).slots().stream().filter(SlotView::leaving).findFirst().orElseThrow().slot();
    stored(first, giving(1, 2, Set.of(moved)));
    stored(second, progress(1, 1, 8, Map.of()));
    leave(second, false);
    assertThat(slot(first, moved))
        .isEqualTo(new SlotView(moved, 2, false, SlotState.at(8), List.of()));

    // Told again, because the first one has got no answer.
    stored(first, giving(2, 2, Set.of(moved)));

    assertThat(slot(first, moved))
        .isEqualTo(new SlotView(moved, 2, false, SlotState.at(8), List.of()));
  }

  @Test
  void anOldProgressChangesNothing() {
    begin(10);
    long epoch = join();
    stored(epoch, progress(2, 1, 9, Map.of()));

    stored(epoch, progress(1, 1, 5, Map.of(7, new SlotState(3, 4, 2, 0, 0))));
    stored(epoch, progress(2, 1, 5, Map.of()));

    assertThat(slot(epoch, 7).state()).isEqualTo(SlotState.at(9));
    // Not even a later one takes anything back.
    stored(epoch, progress(3, 1, 5, Map.of()));
    assertThat(slot(epoch, 7).state()).isEqualTo(SlotState.at(9));
  }

  @Test
  void aFailedEventIsDueAfterATime() {
    begin(10);
    long epoch = join();
    stored(epoch, progress(1, 1, 9, Map.of(7, new SlotState(3, 4, 2, 5_000, 0))));
    assertThat(slot(epoch, 7).state()).isEqualTo(new SlotState(3, 4, 2, stamp + 5_000, 0));
    stored(epoch, progress(2, 1, 9, Map.of(7, new SlotState(3, 4, 2, 0, 0))));
    assertThat(slot(epoch, 7).state()).isEqualTo(new SlotState(3, 4, 2, 0, 0));
  }

  @Test
  void othersHaveTheSlotsOfAConsumerThatHasLeft() {
    begin(10);
    long first = join();
    stored(first, progress(1, 1, 6, Map.of(7, new SlotState(3, 4, 2, 0, 0))));
    long second = join();

    leave(first, false);

    assertThat(slots(second).slots()).hasSize(1_024).allMatch(each -> each.gift() == 1);
    assertThat(slot(second, 7).state()).isEqualTo(new SlotState(3, 4, 2, 0, 0));
    assertThat(slot(second, 8).state()).isEqualTo(SlotState.at(6));
    // A second time.
    leave(first, true);
    assertThat(slots(second).generation()).isEqualTo(1);
    assertThat(cursor().consumers()).isEqualTo(1);
  }

  @Test
  void whatALostBusMayHaveDeliveredIsToBeDeliveredWithCare() {
    begin(10);
    long first = join();
    stored(first, progress(1, 1, 10, Map.of(7, new SlotState(3, 4, 2, 0, 0))));
    long second = join();

    leave(first, true);

    assertThat(slot(second, 7).state()).isEqualTo(new SlotState(3, 4, 2, 0, 10));
    // Nothing can have been under way.
    assertThat(slot(second, 8).state()).isEqualTo(SlotState.at(10));
    stored(second, progress(1, 1, 10, Map.of()));
    assertThat(slot(second, 7).state()).isEqualTo(SlotState.at(10));
  }

  @Test
  void slotsStayWhereTheyAreWithoutConsumers() {
    begin(10);
    long first = join();
    stored(first, progress(1, 1, 8, Map.of(7, new SlotState(3, 4, 2, 0, 0))));
    leave(first, false);
    assertThat(cursor().floor()).isEqualTo(3);
    assertThat(cursor().consumers()).isZero();
    shard.restart();

    long second = join();

    assertThat(slot(second, 7).state()).isEqualTo(new SlotState(3, 4, 2, 0, 0));
    assertThat(slot(second, 8).state()).isEqualTo(SlotState.at(8));
  }

  @Test
  void aDeadLetterComesAgainToItsSlotAndIsSettledOnce() {
    begin(10);
    long epoch = join();
    SlotEnd died = new SlotEnd(1, 7, 4, false, 3, "wrong");
    stored(epoch, ends(1, 10, died));
    // It is not known whether that was stored, so it is told again.
    stored(epoch, ends(2, 10, died));
    assertThat(dead()).containsExactly(new DeadEvent(4, 3, "wrong", stamp));
    assertThat(cursor().dead()).isEqualTo(1);
    assertThat(cursor().floor()).isEqualTo(3);

    assertThat(apply(new Redrive(1, "c", 1, 10, false))).isEqualTo(new Redriven(1, 0));

    assertThat(shard.changes.regrouped()).containsExactly(1);
    assertThat(dead()).isEmpty();
    assertThat(slot(epoch, 7).again()).containsExactly(4L);
    assertThat(slot(epoch, 8).again()).isEmpty();
    assertThat(cursor().waiting()).isEqualTo(1);
    assertThat(cursor().floor()).isEqualTo(3);
    // The first death, told once more, does not end it.
    stored(epoch, ends(3, 10, died));
    assertThat(cursor().dead()).isZero();

    stored(epoch, ends(4, 10, new SlotEnd(4, 7, 4, true, 0, "")));

    assertThat(slot(epoch, 7).again()).isEmpty();
    assertThat(cursor().waiting()).isZero();
    assertThat(cursor().floor()).isEqualTo(10);
  }

  @Test
  void aDeadLetterThatCameAgainCanDieAgainAndBeDiscarded() {
    begin(10);
    long epoch = join();
    stored(epoch, ends(1, 10, new SlotEnd(1, 7, 4, false, 3, "wrong")));
    apply(new Redrive(1, "c", 1, 10, false));
    stored(epoch, ends(2, 10, new SlotEnd(2, 7, 4, true, 5, "again")));
    assertThat(dead()).containsExactly(new DeadEvent(4, 5, "again", stamp));
    assertThat(cursor().waiting()).isZero();

    assertThat(apply(new Redrive(1, "c", 4, 4, true))).isEqualTo(new Redriven(1, 0));

    assertThat(cursor().dead()).isZero();
    assertThat(slot(epoch, 7).again()).isEmpty();
    assertThat(apply(new Redrive(1, "c", 4, 4, true))).isEqualTo(new Redriven(0, 0));
  }

  @Test
  void whatComesAgainMovesWithItsSlot() {
    begin(10);
    long first = join();
    stored(first, ends(1, 10, new SlotEnd(1, 7, 4, false, 3, "wrong")));
    apply(new Redrive(1, "c", 1, 10, false));
    long second = join();
    leave(first, true);
    assertThat(slot(second, 7).again()).containsExactly(4L);
    stored(second, ends(1, 10, new SlotEnd(1, 7, 4, true, 0, "")));
    assertThat(cursor().waiting()).isZero();
  }

  @Test
  void aCursorWithManyDeadLettersIsFull() {
    begin(10);
    long epoch = join();
    stored(
        epoch,
        ends(
            1,
            10,
            new SlotEnd(1, 7, 4, false, 1, ""),
            new SlotEnd(1, 7, 5, false, 1, ""),
            new SlotEnd(1, 8, 6, false, 1, "")));
    assertThat(shard.changes.regrouped()).containsExactly(1);
    assertThat(slots(epoch).full()).isTrue();
    apply(new Redrive(1, "c", 4, 4, false));
    assertThat(slots(epoch).full()).isTrue();

    apply(new Redrive(1, "c", 5, 5, true));

    assertThat(shard.changes.regrouped()).containsExactly(1);
    assertThat(slots(epoch).full()).isFalse();
  }

  @Test
  void consumersAreBounded() {
    begin(1);
    for (int i = 0; i < 3; i++) {
      long unused = join();
    }
    refused(
        apply(new JoinCursor(1, "c", "bus-1", 5)),
        JournalRefusalReason.STORE_FULL,
        "consumers of cursor c of one (journal 1): 4");
  }

  @Test
  void whatIsNotOfAConsumerIsRefused() {
    begin(10);
    long epoch = join();
    refused(
        settle(epoch + 1, progress(1, 1, 5, Map.of())),
        JournalRefusalReason.STALE_EPOCH,
        "epoch: 3 for cursor c");
    refused(settle(0, progress(1, 1, 5, Map.of())), JournalRefusalReason.STALE_EPOCH, "epoch: 0");
    refused(
        settle(epoch, progress(1, 1, 11, Map.of())),
        JournalRefusalReason.NO_POSITION,
        "upTo: 11 in one");
    refused(
        settle(epoch, progress(1, 1, 5, Map.of(3, SlotState.at(12)))),
        JournalRefusalReason.NO_POSITION,
        "upTo: 12 in one");
    refused(
        apply(new TakeEvents(1, "c", epoch, 1, 1)),
        JournalRefusalReason.CURSOR_EXISTS,
        "mode: KEY_");
    refused(
        apply(new SettleEvents(1, "c", epoch, 1, List.of())),
        JournalRefusalReason.CURSOR_EXISTS,
        "mode: KEY_SHARED of cursor c");
    apply(new CreateCursor(1, "s", FILTER, CursorMode.SHARED, CursorStart.FIRST, 0));
    refused(
        apply(new SettleSlots(1, "s", epoch, progress(1, 1, 5, Map.of()))),
        JournalRefusalReason.CURSOR_EXISTS,
        "mode: SHARED of cursor s");
    refused(
        apply(new SettleSlots(1, "x", epoch, progress(1, 1, 5, Map.of()))),
        JournalRefusalReason.NO_CURSOR,
        "cursor: x");
    assertThat(SlotReader.slots(shard.rows, 1, "s", epoch)).isNull();
    assertThat(SlotReader.slots(shard.rows, 1, "c", 0)).isNull();
    assertThat(SlotReader.slots(shard.rows, 1, "c", 99)).isNull();
  }

  @Test
  void nothingIsLeftOfACursorOrJournalThatIsDeleted() {
    begin(10);
    long epoch = join();
    stored(
        epoch, ends(1, 10, new SlotEnd(1, 7, 4, false, 1, ""), new SlotEnd(1, 7, 5, false, 1, "")));
    apply(new Redrive(1, "c", 4, 4, false));
    leave(epoch, false);
    assertThat(apply(new DeleteCursor(1, "c", 0))).isEqualTo(new Done());
    for (byte kind : new byte[] {Keys.CONSUMER, Keys.WAITING, Keys.DEAD, Keys.CURSOR}) {
      assertThat(shard.count(kind)).as("rows of kind %d", kind).isZero();
    }
    apply(create("c", CursorStart.FIRST));
    assertThat(slot(join(), 7)).isEqualTo(new SlotView(7, 1, false, SlotState.at(0), List.of()));
    assertThat(apply(new DeleteJournal(1))).isEqualTo(new Done());
    assertThat(shard.count(Keys.CONSUMER)).isZero();
  }
}
