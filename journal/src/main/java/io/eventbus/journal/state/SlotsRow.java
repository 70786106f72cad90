package io.eventbus.journal.state;

import io.eventbus.journal.SlotState;
import io.eventbus.journal.codec.SlotFormat;
import io.eventbus.protocol.BodyReader;
import io.eventbus.protocol.Varint;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Row of the slots of a key-shared cursor: which consumer has each, and which one is to have it.
 * Every consumer is to have as many as any other, or one more. Immutable.
 */
public final class SlotsRow implements Row {
  private static final int FORMAT = 1;
  private static final int MEMORY_BYTES = 200 + 2 * Long.BYTES * SlotState.SLOTS;

  private final boolean full;
  // Epochs, by slot; without consumers 0.
  private final long[] owners;
  private final long[] targets;
  // What is settled without consumers.
  private final SlotStates free;

  private SlotsRow(boolean full, long[] owners, long[] targets, SlotStates free) {
    this.full = full;
    this.owners = owners;
    this.targets = targets;
    this.free = free;
  }

  /** Returns the row of a cursor that begins behind a position. */
  public static SlotsRow from(long floor) {
    return free(false, new SlotStates(floor, Collections.emptyNavigableMap()));
  }

  private static SlotsRow free(boolean full, SlotStates states) {
    return new SlotsRow(full, new long[SlotState.SLOTS], new long[SlotState.SLOTS], states);
  }

  /**
   * Reads the value of a row.
   *
   * @throws io.eventbus.protocol.MalformedFrameException if it is not as it was written
   */
  public static SlotsRow decode(byte[] value) {
    BodyReader in = RowFormat.reader(value, FORMAT);
    boolean full = RowFormat.readNumber(in, "full", 0, 1) == 1;
    long[] epochs = new long[(int) RowFormat.readNumber(in, "consumers", 0, SlotState.SLOTS)];
    long before = 0;
    for (int i = 0; i < epochs.length; i++) {
      before += RowFormat.readNumber(in, "epoch", 1, Long.MAX_VALUE - before);
      epochs[i] = before;
    }
    SlotsRow row;
    if (epochs.length == 0) {
      long upTo = RowFormat.readNumber(in, "upTo", 0, Long.MAX_VALUE);
      row = free(full, new SlotStates(upTo, SlotFormat.read(in, upTo)));
    } else {
      row = new SlotsRow(full, readSlots(in, epochs), readSlots(in, epochs), SlotStates.NONE);
    }
    RowFormat.checkEnd(in, value);
    return row;
  }

  private static long[] readSlots(BodyReader in, long[] epochs) {
    long[] slots = new long[SlotState.SLOTS];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = epochs[(int) RowFormat.readNumber(in, "consumer", 0, epochs.length - 1)];
    }
    return slots;
  }

  @Override
  public byte[] encode() {
    long[] epochs = counts().keySet().stream().mapToLong(Long::longValue).toArray();
    ByteBuffer out =
        ByteBuffer.allocate(
            (4 + epochs.length + 2 * SlotState.SLOTS) * Varint.MAX_BYTES
                + SlotFormat.maxSize(free.exceptions()));
    Varint.write(out, FORMAT);
    Varint.write(out, full ? 1 : 0);
    Varint.write(out, epochs.length);
    long before = 0;
    for (long epoch : epochs) {
      Varint.write(out, epoch - before);
      before = epoch;
    }
    if (epochs.length == 0) {
      Varint.write(out, free.upTo());
      SlotFormat.write(out, free.upTo(), free.exceptions());
    } else {
      writeSlots(out, owners, epochs);
      writeSlots(out, targets, epochs);
    }
    return RowFormat.bytes(out);
  }

  private static void writeSlots(ByteBuffer out, long[] slots, long[] epochs) {
    for (long epoch : slots) {
      Varint.write(out, Arrays.binarySearch(epochs, epoch));
    }
  }

  /** Returns whether so many events are dead that no others are delivered. */
  public boolean isFull() {
    return full;
  }

  /** Returns the epoch of the consumer that has a slot; 0 without consumers. */
  public long owner(int slot) {
    return owners[slot];
  }

  /** Returns the epoch of the consumer that is to have a slot; 0 without consumers. */
  public long target(int slot) {
    return targets[slot];
  }

  /** Returns what is settled, for a cursor without consumers; null if it has some. */
  public @Nullable SlotStates free() {
    return targets[0] == 0 ? free : null;
  }

  /** Returns how many slots each consumer is to have, by epoch. */
  NavigableMap<Long, Integer> counts() {
    NavigableMap<Long, Integer> counts = new TreeMap<>();
    for (long epoch : targets) {
      if (epoch != 0) {
        counts.merge(epoch, 1, Integer::sum);
      }
    }
    return counts;
  }

  SlotsRow withFull(boolean now) {
    return new SlotsRow(now, owners, targets, free);
  }

  /** Returns the row of a cursor that one more consumer has joined; the first one has all slots. */
  SlotsRow joined(long epoch) {
    if (free() != null) {
      long[] all = new long[SlotState.SLOTS];
      Arrays.fill(all, epoch);
      return new SlotsRow(full, all, all, SlotStates.NONE);
    }
    NavigableMap<Long, Integer> counts = counts();
    long[] next = targets.clone();
    int share = SlotState.SLOTS / (counts.size() + 1);
    for (int i = 0; i < share; i++) {
      long most = first(counts, Collections.max(counts.values()));
      counts.merge(most, -1, Integer::sum);
      int slot = 0;
      while (next[slot] != most) {
        slot++;
      }
      next[slot] = epoch;
    }
    return new SlotsRow(full, owners, next, SlotStates.NONE);
  }

  /** Returns the row of a cursor that one of several consumers has left: others have its slots. */
  SlotsRow left(long epoch) {
    NavigableMap<Long, Integer> counts = counts();
    counts.remove(epoch);
    long[] next = targets.clone();
    long[] now = owners.clone();
    for (int slot = 0; slot < next.length; slot++) {
      if (next[slot] == epoch) {
        next[slot] = first(counts, Collections.min(counts.values()));
        counts.merge(next[slot], 1, Integer::sum);
      }
      if (now[slot] == epoch) {
        now[slot] = next[slot];
      }
    }
    return new SlotsRow(full, now, next, SlotStates.NONE);
  }

  private static long first(NavigableMap<Long, Integer> counts, int count) {
    for (Map.Entry<Long, Integer> each : counts.entrySet()) {
      if (each.getValue() == count) {
        return each.getKey();
      }
    }
    throw new IllegalStateException("no consumer has " + count + " slots");
  }

  /** Returns the row of a cursor that the last consumer has left. */
  SlotsRow leftByAll(SlotStates states) {
    return free(full, states);
  }

  /** Returns the row after slots were given to the consumers that are to have them. */
  SlotsRow given(Iterable<Integer> slots) {
    long[] now = owners.clone();
    for (int slot : slots) {
      now[slot] = targets[slot];
    }
    return new SlotsRow(full, now, targets, SlotStates.NONE);
  }

  @Override
  public int memoryBytes() {
    return MEMORY_BYTES + SlotStates.STATE_BYTES * free.exceptions().size();
  }
}
