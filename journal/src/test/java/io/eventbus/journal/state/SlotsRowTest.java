package io.eventbus.journal.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.SlotState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class SlotsRowTest {
  private static SlotsRow again(SlotsRow row) {
    SlotsRow read = SlotsRow.decode(row.encode());
    assertThat(read.encode()).isEqualTo(row.encode());
    return read;
  }

  private static List<Integer> movesTo(SlotsRow row, long epoch) {
    List<Integer> slots = new ArrayList<>();
    for (int slot = 0; slot < SlotState.SLOTS; slot++) {
      if (row.target(slot) == epoch && row.owner(slot) != epoch) {
        slots.add(slot);
      }
    }
    return slots;
  }

  @Test
  void theFirstConsumerHasAllSlotsAtOnce() {
    SlotsRow none = again(SlotsRow.from(7));
    assertThat(Objects.requireNonNull(none.free()).of(1_023)).isEqualTo(SlotState.at(7));
    assertThat(none.owner(5)).isZero();

    SlotsRow one = again(none.joined(3));

    assertThat(one.free()).isNull();
    assertThat(one.counts()).isEqualTo(new TreeMap<>(Map.of(3L, 1_024)));
    assertThat(movesTo(one, 3)).isEmpty();
    assertThat(one.owner(1_023)).isEqualTo(3);
  }

  @Test
  void anotherConsumerIsToHaveItsShareAndHasItWhenItIsGiven() {
    SlotsRow two = again(SlotsRow.from(0).joined(1).joined(2));
    List<Integer> moved = movesTo(two, 2);
    assertThat(moved).hasSize(512);
    assertThat(two.owner(moved.get(0))).isEqualTo(1);

    SlotsRow given = again(two.given(moved.subList(0, 2)));

    assertThat(given.owner(moved.get(0))).isEqualTo(2);
    assertThat(given.owner(moved.get(1))).isEqualTo(2);
    assertThat(movesTo(given, 2)).isEqualTo(moved.subList(2, 512));
  }

  @Test
  void theSlotsOfAConsumerThatLeavesAreTheOthersAtOnce() {
    SlotsRow three = SlotsRow.from(0).joined(1).joined(2).joined(3);

    SlotsRow two = again(three.left(1));

    for (int slot = 0; slot < SlotState.SLOTS; slot++) {
      assertThat(two.owner(slot)).isNotEqualTo(1).isEqualTo(two.target(slot));
    }
    SlotsRow none =
        again(two.left(2).leftByAll(new SlotStates(9, Collections.emptyNavigableMap())));
    assertThat(Objects.requireNonNull(none.free()).of(3)).isEqualTo(SlotState.at(9));
  }

  @Test
  void eachConsumerIsToHaveAsManySlotsAsAnyOtherOrOneMoreAndFewMove() {
    for (long seed = 1; seed <= 50; seed++) {
      Random random = new Random(seed);
      SlotsRow row = SlotsRow.from(0).joined(1);
      TreeSet<Long> consumers = new TreeSet<>(List.of(1L));
      for (long epoch = 2; epoch < 40; epoch++) {
        SlotsRow before = row;
        int moved = 0;
        int most;
        if (consumers.size() > 1 && random.nextInt(3) == 0) {
          List<Long> all = new ArrayList<>(consumers);
          long gone = all.get(random.nextInt(all.size()));
          consumers.remove(gone);
          most = Objects.requireNonNull(before.counts().get(gone));
          row = row.left(gone);
        } else {
          consumers.add(epoch);
          row = row.joined(epoch);
          most = SlotState.SLOTS / consumers.size();
        }
        for (int slot = 0; slot < SlotState.SLOTS; slot++) {
          moved += row.target(slot) == before.target(slot) ? 0 : 1;
          assertThat(consumers).as("seed %d", seed).contains(row.owner(slot));
        }
        assertThat(row.counts().keySet()).isEqualTo(consumers);
        assertThat(Collections.max(row.counts().values()))
            .as("seed %d", seed)
            .isLessThanOrEqualTo(Collections.min(row.counts().values()) + 1);
        assertThat(moved).as("seed %d", seed).isEqualTo(most);
      }
    }
  }

  @Test
  void aThousandConsumersAreToHaveASlotEach() {
    SlotsRow row = SlotsRow.from(0);
    for (long epoch = 1; epoch <= 1_000; epoch++) {
      row = row.joined(epoch);
    }
    assertThat(row.counts()).hasSize(1_000);
    assertThat(again(row).counts()).isEqualTo(row.counts());
    assertThat(row.encode()).hasSizeLessThan(8 << 10);
  }
}
