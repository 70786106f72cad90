package io.eventbus.journal.read;

import io.eventbus.journal.ConsumerView;
import io.eventbus.journal.CursorMode;
import io.eventbus.journal.SlotState;
import io.eventbus.journal.SlotsView;
import io.eventbus.journal.SlotsView.SlotView;
import io.eventbus.journal.rows.RowReader;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.state.CursorRow;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.state.SlotConsumerRow;
import io.eventbus.journal.state.SlotStates;
import io.eventbus.journal.state.SlotsRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reading the slots of key-shared cursors, and of their consumers. */
public final class SlotReader {
  private SlotReader() {}

  /**
   * Returns the slots of a consumer; null if there is no such consumer of a key-shared cursor.
   *
   * @param epoch number of the consumer
   */
  public static @Nullable SlotsView slots(RowReader rows, int journal, String name, long epoch) {
    CursorRow cursor = CursorReader.row(rows, journal, name);
    if (cursor == null || cursor.mode() != CursorMode.KEY_SHARED || epoch == 0) {
      return null;
    }
    byte[] value = rows.get(Keys.consumer(journal, cursor.number(), epoch));
    if (value == null) {
      return null;
    }
    SlotConsumerRow consumer = SlotConsumerRow.decode(value);
    SlotsRow slots = row(rows, journal, cursor);
    boolean again = cursor.shared().waiting() > 0;
    List<SlotView> found = new ArrayList<>();
    int room = SlotsView.MAX_AGAIN;
    for (int slot = 0; slot < SlotState.SLOTS; slot++) {
      if (slots.owner(slot) == epoch) {
        List<Long> positions =
            again ? again(rows, journal, cursor.number(), slot, room) : List.of();
        room -= positions.size();
        found.add(
            new SlotView(
                slot,
                consumer.gifts().getOrDefault(slot, 0L),
                slots.target(slot) != epoch,
                consumer.states().of(slot),
                positions));
      }
    }
    return new SlotsView(
        consumer.serial(), consumer.generation(), slots.isFull(), found, room == 0);
  }

  private static SlotsRow row(RowReader rows, int journal, CursorRow cursor) {
    byte[] value = rows.get(Keys.consumer(journal, cursor.number(), 0));
    return value == null ? SlotsRow.from(cursor.shared().head()) : SlotsRow.decode(value);
  }

  private static List<Long> again(RowReader rows, int journal, long cursor, int slot, int max) {
    List<Long> positions = new ArrayList<>();
    try (RowScan scan =
        rows.scan(
            Keys.waitingFrom(journal, cursor, slot), Keys.waitingFrom(journal, cursor, slot + 1))) {
      while (positions.size() < max && scan.next()) {
        positions.add(Keys.lastNumber(scan.key()));
      }
    }
    return positions;
  }

  /** Returns what is known of a consumer, whose row is given. */
  static ConsumerView consumer(long epoch, byte[] value) {
    SlotConsumerRow row = SlotConsumerRow.decode(value);
    int behind = 0;
    long first = row.states().upTo();
    for (SlotState state : row.states().exceptions().values()) {
      if (state.floor() < row.states().upTo()) {
        behind++;
        first = Math.min(first, state.floor());
      }
    }
    return new ConsumerView(epoch, row.owner(), behind, behind == 0 ? 0 : first + 1);
  }

  /** Returns the position up to which all slots of a cursor are settled. */
  static long floor(RowReader rows, int journal, CursorRow cursor) {
    SlotsRow slots = row(rows, journal, cursor);
    long floor = Long.MAX_VALUE;
    Map<Long, SlotStates> states = new HashMap<>();
    for (int slot = 0; slot < SlotState.SLOTS; slot++) {
      long each =
          states
              .computeIfAbsent(
                  slots.owner(slot), epoch -> states(rows, journal, cursor, slots, epoch))
              .of(slot)
              .floor();
      floor = Math.min(floor, each);
    }
    return floor;
  }

  private static SlotStates states(
      RowReader rows, int journal, CursorRow cursor, SlotsRow slots, long epoch) {
    SlotStates free = slots.free();
    if (free != null) {
      return free;
    }
    byte[] value = rows.get(Keys.consumer(journal, cursor.number(), epoch));
    if (value == null) {
      throw new IllegalStateException("no row of the consumer " + epoch + ", which has slots");
    }
    return SlotConsumerRow.decode(value).states();
  }
}
