package io.eventbus.journal.state;

import io.eventbus.journal.rows.DamagedStoreException;
import io.eventbus.journal.rows.Rows;
import io.eventbus.protocol.MalformedFrameException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Rows that were used last, decoded, up to a number of bytes. What an entry changes is seen by its
 * later records, and is written by {@link #flush} at its end; until then nothing is evicted.
 *
 * <p>Confined to the thread that applies entries.
 */
final class RowCache {
  // Objects of a slot, its key and its node in the map, without the bytes of the key.
  private static final int SLOT_BYTES = 136;

  private final long maxBytes;
  private final Map<RowKey, Slot> slots = new LinkedHashMap<>(16, 0.75f, true);
  private final List<Slot> changed = new ArrayList<>();
  private long bytes;

  RowCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Returns a row, null if there is none.
   *
   * @param rows where it is read if it is not here
   * @throws DamagedStoreException if it is not as it was written
   */
  <V extends Row> @Nullable V get(
      Rows rows, byte[] key, Class<V> type, Function<byte[], V> decoder) {
    RowKey rowKey = new RowKey(key);
    Slot slot = slots.get(rowKey);
    if (slot == null) {
      byte[] value = rows.get(key);
      if (value == null) {
        return null;
      }
      slot = new Slot(rowKey);
      slot.row = decode(key, value, decoder);
      slots.put(rowKey, slot);
      measure(slot);
    }
    return type.cast(slot.row);
  }

  private static <V> V decode(byte[] key, byte[] value, Function<byte[], V> decoder) {
    try {
      return decoder.apply(value);
    } catch (MalformedFrameException e) {
      throw damaged(key, e);
    }
  }

  /** Returns the failure that ends the store of a row that is not as it was written. */
  static DamagedStoreException damaged(byte[] key, Exception cause) {
    return new DamagedStoreException(
        "row "
            + HexFormat.of().formatHex(key)
            + ": "
            + cause.getMessage()
            + ": its store is damaged (expected: the row as it was written)",
        cause);
  }

  /** Takes a row that is new or that has changed. */
  void put(byte[] key, Row row) {
    change(key).row = row;
  }

  /** Deletes a row, if there is one. */
  void delete(byte[] key) {
    change(key).row = null;
  }

  private Slot change(byte[] key) {
    Slot slot = slots.computeIfAbsent(new RowKey(key), Slot::new);
    if (!slot.changed) {
      slot.changed = true;
      changed.add(slot);
    }
    return slot;
  }

  /** Forgets all rows of a journal without writing what has changed in them. */
  void forget(int journal) {
    forget(key -> key.isOf(journal));
  }

  /** Forgets all rows whose keys begin so, without writing what has changed in them. */
  void forget(byte[] beginning) {
    forget(key -> key.beginsWith(beginning));
  }

  private void forget(Predicate<RowKey> forgotten) {
    for (Iterator<Slot> i = slots.values().iterator(); i.hasNext(); ) {
      Slot slot = i.next();
      if (forgotten.test(slot.key)) {
        bytes -= slot.memory;
        i.remove();
        slot.forgotten = true;
      }
    }
    changed.removeIf(slot -> slot.forgotten);
  }

  /** Writes what has changed, and evicts what was not used for the longest time. */
  void flush(Rows rows) {
    for (Slot slot : changed) {
      slot.changed = false;
      Row row = slot.row;
      if (row == null) {
        rows.delete(slot.key.bytes);
        slots.remove(slot.key);
        bytes -= slot.memory;
      } else {
        rows.put(slot.key.bytes, row.encode());
        measure(slot);
      }
    }
    changed.clear();
    for (Iterator<Slot> i = slots.values().iterator(); bytes > maxBytes && i.hasNext(); ) {
      bytes -= i.next().memory;
      i.remove();
    }
  }

  private void measure(Slot slot) {
    Row row = slot.row;
    int memory = SLOT_BYTES + slot.key.bytes.length + (row == null ? 0 : row.memoryBytes());
    bytes += memory - slot.memory;
    slot.memory = memory;
  }

  /** Returns about how many bytes the rows take. */
  long bytes() {
    return bytes;
  }

  private static final class Slot {
    final RowKey key;
    @Nullable Row row;
    boolean changed;
    boolean forgotten;
    int memory;

    Slot(RowKey key) {
      this.key = key;
    }
  }

  private static final class RowKey {
    final byte[] bytes;
    private final int hash;

    RowKey(byte[] bytes) {
      this.bytes = bytes;
      this.hash = Arrays.hashCode(bytes);
    }

    boolean isOf(int journal) {
      byte kind = bytes[0];
      return kind != Keys.SHARD
          && kind != Keys.JOURNAL_NAME
          && kind != Keys.PRODUCER_IDLE
          && Keys.journalOf(bytes) == journal;
    }

    boolean beginsWith(byte[] beginning) {
      return bytes.length >= beginning.length
          && Arrays.equals(bytes, 0, beginning.length, beginning, 0, beginning.length);
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof RowKey that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
      return hash;
    }
  }
}
