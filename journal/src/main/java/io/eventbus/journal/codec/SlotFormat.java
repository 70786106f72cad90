package io.eventbus.journal.codec;

import io.eventbus.journal.Settlement;
import io.eventbus.journal.SlotEnd;
import io.eventbus.journal.SlotProgress;
import io.eventbus.journal.SlotState;
import io.eventbus.journal.TakenRun;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** Format of the states of slots, and of the progress of a consumer. */
public final class SlotFormat {
  /** Maximum size of a state, in bytes. */
  public static final int MAX_STATE_BYTES = 5 * Varint.MAX_BYTES;

  private static final int MAX_SLOT_BYTES = Varint.MAX_BYTES + MAX_STATE_BYTES;
  // Fields of an end, but its reason.
  private static final int END_NUMBERS = 5;

  private SlotFormat() {}

  /** Returns how many bytes states take at most. */
  public static int maxSize(SortedMap<Integer, SlotState> states) {
    return Varint.MAX_BYTES + states.size() * MAX_SLOT_BYTES;
  }

  /**
   * Writes states of slots.
   *
   * @param base floor of most slots
   */
  public static void write(ByteBuffer out, long base, SortedMap<Integer, SlotState> states) {
    Varint.write(out, states.size());
    int before = -1;
    for (var each : states.entrySet()) {
      Varint.write(out, each.getKey() - before - 1);
      write(out, base, each.getValue());
      before = each.getKey();
    }
  }

  /** Writes a state. */
  public static void write(ByteBuffer out, long base, SlotState state) {
    Varint.write(out, state.floor() - base);
    Varint.write(out, state.position());
    Varint.write(out, state.attempt());
    Varint.write(out, state.due());
    Varint.write(out, state.carefulUpTo());
  }

  /** Reads states of slots. */
  public static NavigableMap<Integer, SlotState> read(BodyReader in, long base) {
    int count = DefinitionFormat.readAtMost(in, "slots", SlotState.SLOTS);
    NavigableMap<Integer, SlotState> states = new TreeMap<>();
    int before = -1;
    for (int i = 0; i < count; i++) {
      before = readSlotAfter(in, before);
      states.put(before, readState(in, base));
    }
    return states;
  }

  /** Reads the number of a slot, as its distance to the one before. */
  public static int readSlotAfter(BodyReader in, int before) {
    return before + 1 + DefinitionFormat.readAtMost(in, "slot", SlotState.SLOTS - before - 2);
  }

  /** Reads a state. */
  public static SlotState readState(BodyReader in, long base) {
    long floor =
        base + CursorRecordFormat.readNumber(in, "slot.floor", -base, Long.MAX_VALUE - base);
    return new SlotState(
        floor,
        CursorRecordFormat.readNumber(in, "slot.position", 0, Long.MAX_VALUE),
        (int) CursorRecordFormat.readNumber(in, "slot.attempt", 1, TakenRun.MAX_ATTEMPTS + 1),
        CursorRecordFormat.readNumber(in, "slot.due", 0, Long.MAX_VALUE),
        CursorRecordFormat.readNumber(in, "slot.carefulUpTo", 0, Long.MAX_VALUE));
  }

  static int maxSize(SlotProgress progress) {
    int size = 6 * Varint.MAX_BYTES + maxSize(progress.exceptions());
    for (SlotEnd end : progress.ends()) {
      size += END_NUMBERS * Varint.MAX_BYTES + DefinitionFormat.maxSize(end.reason());
    }
    return size + progress.given().size() * Varint.MAX_BYTES;
  }

  static void write(ByteBuffer out, SlotProgress progress) {
    Varint.write(out, progress.serial());
    Varint.write(out, progress.generation());
    Varint.write(out, progress.upTo());
    write(out, progress.upTo(), progress.exceptions());
    Varint.write(out, progress.ends().size());
    for (SlotEnd end : progress.ends()) {
      Varint.write(out, end.serial());
      Varint.write(out, end.slot());
      Varint.write(out, end.position());
      Varint.write(out, end.again() ? 1 : 0);
      Varint.write(out, end.attempts());
      DefinitionFormat.writeString(out, end.reason());
    }
    Varint.write(out, progress.given().size());
    int before = -1;
    for (int slot : progress.given()) {
      Varint.write(out, slot - before - 1);
      before = slot;
    }
  }

  static SlotProgress readProgress(BodyReader in) {
    long serial = CursorRecordFormat.readNumber(in, "SettleSlots.serial", 1, Long.MAX_VALUE);
    long generation =
        CursorRecordFormat.readNumber(in, "SettleSlots.generation", 0, Long.MAX_VALUE);
    long upTo = CursorRecordFormat.readNumber(in, "SettleSlots.upTo", 0, Long.MAX_VALUE);
    return new SlotProgress(
        serial, generation, upTo, read(in, upTo), readEnds(in, serial), readSlots(in));
  }

  private static List<SlotEnd> readEnds(BodyReader in, long serial) {
    int count = DefinitionFormat.readAtMost(in, "SettleSlots.ends", SlotEnd.MAX_TOGETHER);
    List<SlotEnd> ends = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ends.add(
          new SlotEnd(
              CursorRecordFormat.readNumber(in, "SlotEnd.serial", 1, serial),
              DefinitionFormat.readAtMost(in, "SlotEnd.slot", SlotState.SLOTS - 1),
              CursorRecordFormat.readNumber(in, "SlotEnd.position", 1, Long.MAX_VALUE),
              DefinitionFormat.readAtMost(in, "SlotEnd.again", 1) == 1,
              DefinitionFormat.readAtMost(in, "SlotEnd.attempts", TakenRun.MAX_ATTEMPTS),
              in.readString("SlotEnd.reason", Settlement.MAX_REASON_BYTES)));
    }
    return ends;
  }

  private static SortedSet<Integer> readSlots(BodyReader in) {
    int count = DefinitionFormat.readAtMost(in, "SettleSlots.given", SlotState.SLOTS);
    SortedSet<Integer> slots = new TreeSet<>();
    int before = -1;
    for (int i = 0; i < count; i++) {
      before = readSlotAfter(in, before);
      slots.add(before);
    }
    return slots;
  }
}
