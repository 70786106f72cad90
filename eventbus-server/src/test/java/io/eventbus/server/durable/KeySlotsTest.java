package io.eventbus.server.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.SlotEnd;
import io.eventbus.journal.SlotState;
import io.eventbus.journal.SlotsView;
import io.eventbus.journal.SlotsView.SlotView;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class KeySlotsTest {
  private static final long NOW = 5_000_000_000L;
  private static final long STAMP = 1_000_000;

  private final KeySlots slots = new KeySlots(3);

  private static SlotView slot(long gift, SlotState state, Long... again) {
    return new SlotView(7, gift, false, state, List.of(again));
  }

  private static SlotView leaving(SlotState state) {
    return new SlotView(7, 0, true, state, List.of());
  }

  private void adopt(long serial, long generation, SlotView... found) {
    slots.adopt(new SlotsView(serial, generation, false, List.of(found), false), STAMP, NOW);
  }

  private KeySlot seven() {
    return Objects.requireNonNull(slots.get(7));
  }

  private KeySlot found(long position) {
    KeySlot slot = Objects.requireNonNull(slots.found(7, position, position, NOW));
    slot.send();
    return slot;
  }

  @Test
  void aSlotGoesOnWhereAnotherConsumerHasStopped() {
    adopt(0, 1, slot(1, new SlotState(4, 6, 2, STAMP + 3_000, 9)));
    assertThat(slots.nextRead(NOW)).as("it waits").isZero();
    assertThat(slots.nextRead(NOW + 3_000_000_000L)).as("its delivery is recorded").isZero();
    assertThat(slots.hasChanged()).isTrue();

    KeySlots.Told told = slots.progress(NOW + 3_000_000_000L);

    assertThat(told.progress.generation()).isEqualTo(1);
    assertThat(told.progress.upTo()).isEqualTo(5);
    assertThat(told.progress.exceptions())
        .isEqualTo(new TreeMap<>(Map.of(7, new SlotState(5, 6, 3, 0, 9))));
    slots.stored(told);
    assertThat(slots.nextRead(NOW + 3_000_000_000L)).isEqualTo(6);
    assertThat(seven().attempt()).isEqualTo(2);
  }

  @Test
  void anEventWhoseLastAttemptWasLostIsDead() {
    adopt(0, 1, slot(1, new SlotState(4, 6, 4, 0, 0)));
    assertThat(slots.nextRead(NOW)).isZero();
    assertThat(slots.progress(NOW).progress.ends())
        .containsExactly(new SlotEnd(1, 7, 6, false, 3, KeySlots.CONSUMER_LOST));
    assertThat(slots.nextRead(NOW)).isEqualTo(7);
  }

  @Test
  void anEndIsToldUntilItIsStoredAndKeepsItsSerial() {
    adopt(0, 1, slot(1, SlotState.at(0)));
    slots.bury(found(1), "wrong");
    slots.progress(NOW);
    KeySlots.Told again = slots.progress(NOW);
    assertThat(again.progress.serial()).isEqualTo(2);
    assertThat(again.progress.ends()).containsExactly(new SlotEnd(1, 7, 1, false, 1, "wrong"));
    slots.stored(again);
    assertThat(slots.progress(NOW).progress.ends()).isEmpty();
    assertThat(slots.unstoredEnds()).isZero();
  }

  @Test
  void aDeadLetterThatCameAgainAndIsSettledDoesNotComeFromAnOlderView() {
    adopt(0, 1, slot(1, SlotState.at(9), 4L));
    assertThat(slots.nextRead(NOW)).as("its delivery is recorded").isZero();
    slots.stored(slots.progress(NOW));
    assertThat(slots.nextRead(NOW)).isEqualTo(4);
    slots.done(found(4));
    adopt(1, 1, slot(0, SlotState.at(9), 4L));
    assertThat(slots.nextRead(NOW)).as("not told yet").isEqualTo(10);
    slots.stored(slots.progress(NOW));
    adopt(1, 1, slot(0, SlotState.at(9), 4L));
    assertThat(slots.nextRead(NOW)).as("stored behind the view").isEqualTo(10);

    adopt(2, 1, slot(0, SlotState.at(9), 4L));

    assertThat(slots.nextRead(NOW)).as("returned once more").isZero();
    assertThat(seven().candidate()).isEqualTo(4);
  }

  @Test
  void aSlotIsGivenWhenNothingOfItIsWithTheClient() {
    adopt(0, 1, slot(1, SlotState.at(0)));
    KeySlot first = found(1);
    adopt(0, 1, leaving(SlotState.at(0)));
    assertThat(slots.found(7, 2, 2, NOW)).isNull();
    assertThat(slots.progress(NOW).progress.given()).isEmpty();
    slots.done(first);
    assertThat(slots.nextRead(NOW)).isZero();

    KeySlots.Told told = slots.progress(NOW);

    assertThat(told.progress.given()).containsExactly(7);
    assertThat(told.progress.exceptions()).isEmpty();
    assertThat(told.progress.upTo()).isEqualTo(1);
    slots.stored(told);
    assertThat(slots.get(7)).isNull();
    assertThat(slots.heapBytes()).isZero();
    // A view of before.
    adopt(1, 1, leaving(SlotState.at(0)));
    assertThat(slots.get(7)).isNull();
  }

  @Test
  void aSlotThatComesBackIsTakenAnew() {
    adopt(0, 1, slot(1, SlotState.at(0)));
    adopt(0, 1, leaving(SlotState.at(0)));
    KeySlots.Told given = slots.progress(NOW);
    KeySlot before = seven();
    adopt(1, 2, slot(2, SlotState.at(30)));
    assertThat(seven()).isNotSameAs(before);
    assertThat(slots.nextRead(NOW)).isEqualTo(31);
    slots.stored(given);
    assertThat(slots.get(7)).as("not that which was given").isNotNull();
  }

  @Test
  void nothingNewIsDeliveredWhenTooMuchIsDead() {
    adopt(0, 1, slot(1, new SlotState(4, 6, 2, 0, 0)));
    slots.adopt(new SlotsView(0, 1, true, List.of(slot(0, SlotState.at(4))), false), STAMP, NOW);
    assertThat(slots.nextRead(NOW)).as("one that has failed").isEqualTo(6);
    slots.done(found(6));
    assertThat(slots.nextRead(NOW)).isZero();
    assertThat(slots.found(7, 7, 7, NOW)).isNull();
  }
}
