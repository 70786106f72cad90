package io.eventbus.journal.state;

import io.eventbus.journal.CursorView;
import io.eventbus.journal.SlotState;
import io.eventbus.journal.TakenRun;
import io.eventbus.journal.codec.DefinitionFormat;
import io.eventbus.journal.codec.SlotFormat;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Row of a consumer of a key-shared cursor. Immutable.
 *
 * @param owner text that names the process of a bus
 * @param maxAttempts number of deliveries after which an event is dead
 * @param serial number of its last progress; 0 for none
 * @param generation number of the last gift of slots to it; 0 for none
 * @param states states of the slots that it has
 * @param gifts numbers of the gifts by which it got slots of which it does not know yet, by slot:
 *     these have an exception
 */
public record SlotConsumerRow(
    String owner,
    int maxAttempts,
    long serial,
    long generation,
    SlotStates states,
    NavigableMap<Integer, Long> gifts)
    implements Row {
  private static final int FORMAT = 1;
  private static final int MEMORY_BYTES = 250;
  private static final int GIFT_BYTES = 80;

  /** Copies the map. */
  public SlotConsumerRow {
    gifts = Collections.unmodifiableNavigableMap(new TreeMap<>(gifts));
  }

  /** Returns the row of a consumer that has no slots. */
  static SlotConsumerRow of(String owner, int maxAttempts) {
    return new SlotConsumerRow(
        owner, maxAttempts, 0, 0, SlotStates.NONE, Collections.emptyNavigableMap());
  }

  /**
   * Reads the value of a row.
   *
   * @throws io.eventbus.protocol.MalformedFrameException if it is not as it was written
   */
  public static SlotConsumerRow decode(byte[] value) {
    BodyReader in = RowFormat.reader(value, FORMAT);
    String owner = in.readString("owner", CursorView.MAX_OWNER_BYTES);
    int maxAttempts = (int) RowFormat.readNumber(in, "maxAttempts", 1, TakenRun.MAX_ATTEMPTS);
    long serial = RowFormat.readNumber(in, "serial", 0, Long.MAX_VALUE);
    long generation = RowFormat.readNumber(in, "generation", 0, Long.MAX_VALUE);
    long upTo = RowFormat.readNumber(in, "upTo", 0, Long.MAX_VALUE);
    SlotStates states = new SlotStates(upTo, SlotFormat.read(in, upTo));
    int count = (int) RowFormat.readNumber(in, "gifts", 0, SlotState.SLOTS);
    NavigableMap<Integer, Long> gifts = new TreeMap<>();
    int slot = -1;
    for (int i = 0; i < count; i++) {
      slot = SlotFormat.readSlotAfter(in, slot);
      gifts.put(slot, RowFormat.readNumber(in, "gift", 1, generation));
    }
    RowFormat.checkEnd(in, value);
    return new SlotConsumerRow(owner, maxAttempts, serial, generation, states, gifts);
  }

  @Override
  public byte[] encode() {
    ByteBuffer out =
        ByteBuffer.allocate(
            (7 + 2 * gifts.size()) * Varint.MAX_BYTES
                + DefinitionFormat.maxSize(owner)
                + SlotFormat.maxSize(states.exceptions()));
    Varint.write(out, FORMAT);
    DefinitionFormat.writeString(out, owner);
    Varint.write(out, maxAttempts);
    Varint.write(out, serial);
    Varint.write(out, generation);
    Varint.write(out, states.upTo());
    SlotFormat.write(out, states.upTo(), states.exceptions());
    Varint.write(out, gifts.size());
    int before = -1;
    for (var gift : gifts.entrySet()) {
      Varint.write(out, gift.getKey() - before - 1);
      Varint.write(out, gift.getValue());
      before = gift.getKey();
    }
    return RowFormat.bytes(out);
  }

  /** Returns the row of a consumer that has got slots. */
  SlotConsumerRow withGift(NavigableMap<Integer, SlotState> slots) {
    NavigableMap<Integer, SlotState> exceptions = new TreeMap<>(states.exceptions());
    exceptions.putAll(slots);
    NavigableMap<Integer, Long> all = new TreeMap<>(gifts);
    long next = generation + 1;
    slots.keySet().forEach(slot -> all.put(slot, next));
    return new SlotConsumerRow(
        owner, maxAttempts, serial, next, new SlotStates(states.upTo(), exceptions), all);
  }

  @Override
  public int memoryBytes() {
    return MEMORY_BYTES
        + 2 * owner.length()
        + SlotStates.STATE_BYTES * states.exceptions().size()
        + GIFT_BYTES * gifts.size();
  }
}
