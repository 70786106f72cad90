package io.eventbus.server.queue;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Order in which a loop does work for its clients, such as writing: one piece for each client
 * address in turn, those for one address in the order in which they became due. Thousands of
 * connections of one address delay those of another address little. Confined to the loop.
 */
public final class FairQueue {
  /** Entries of one address on this loop. */
  private static final class Lane {
    final Object address;
    int entries;
    @Nullable Entry first;
    @Nullable Entry last;

    Lane(Object address) {
      this.address = address;
    }
  }

  /** Place of a connection, or of a task. */
  public static final class Entry implements Runnable {
    private final Lane lane;
    private final Runnable work;
    private @Nullable Entry next;
    private boolean due;

    private Entry(Lane lane, Runnable work) {
      this.lane = lane;
      this.work = work;
    }

    /** Returns the object that connections sharing a turn have in common. */
    public Object address() {
      return lane.address;
    }

    /** Does the work. */
    @Override
    public void run() {
      work.run();
    }
  }

  private final Map<Object, Lane> lanes = new HashMap<>();
  private final ArrayDeque<Lane> waiting = new ArrayDeque<>();

  /**
   * Makes an entry, which does not wait yet.
   *
   * @param address object that connections sharing a turn have in common
   * @param work runs when the caller of {@link #poll} runs the entry
   */
  public Entry join(Object address, Runnable work) {
    Lane lane = lanes.computeIfAbsent(address, Lane::new);
    lane.entries++;
    return new Entry(lane, work);
  }

  /** Removes an entry, which may still wait for its turn. Once for each. */
  public void leave(Entry entry) {
    Lane lane = entry.lane;
    lane.entries--;
    if (lane.entries == 0) {
      lanes.remove(lane.address);
    }
  }

  /**
   * Appends an entry to those of its address.
   *
   * @return false if it waits already
   */
  public boolean add(Entry entry) {
    if (entry.due) {
      return false;
    }
    entry.due = true;
    Lane lane = entry.lane;
    Entry last = lane.last;
    lane.last = entry;
    if (last == null) {
      lane.first = entry;
      waiting.add(lane);
    } else {
      last.next = entry;
    }
    return true;
  }

  /** Removes and returns the entry whose turn it is; null for none. It can be added again. */
  public @Nullable Entry poll() {
    Lane lane = waiting.poll();
    if (lane == null) {
      return null;
    }
    Entry entry = lane.first;
    if (entry == null) {
      throw new IllegalStateException("an address without entries waited for its turn");
    }
    lane.first = entry.next;
    if (lane.first == null) {
      lane.last = null;
    } else {
      waiting.add(lane);
    }
    entry.next = null;
    entry.due = false;
    return entry;
  }

  public boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Returns the number of entries of an address. */
  int entries(Object address) {
    Lane lane = lanes.get(address);
    return lane == null ? 0 : lane.entries;
  }

  /** Returns the number of addresses with entries. */
  int addresses() {
    return lanes.size();
  }
}
