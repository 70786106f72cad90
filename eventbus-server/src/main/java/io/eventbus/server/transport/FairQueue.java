package io.eventbus.server.transport;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Order in which a loop writes to its connections: one connection of each client address in turn,
 * those of one address in the order in which they became due. Thousands of connections of one
 * address delay those of another address little. Confined to the loop.
 */
final class FairWriteQueue {
  /** Connections of one address on this loop. */
  private static final class Lane {
    final Object address;
    int connections;
    @Nullable Entry first;
    @Nullable Entry last;

    Lane(Object address) {
      this.address = address;
    }
  }

  /** Place of one connection. */
  static final class Entry {
    private final Lane lane;
    private final Runnable drain;
    private @Nullable Entry next;
    private boolean due;

    private Entry(Lane lane, Runnable drain) {
      this.lane = lane;
      this.drain = drain;
    }

    /** Returns the object that connections sharing a turn have in common. */
    Object address() {
      return lane.address;
    }

    /** Writes to the connection. */
    void drain() {
      drain.run();
    }
  }

  private final Map<Object, Lane> lanes = new HashMap<>();
  private final ArrayDeque<Lane> waiting = new ArrayDeque<>();

  /**
   * Adds a connection.
   *
   * @param address object that connections sharing a turn have in common
   * @param drain writes to the connection; called by the caller of {@link #poll}
   */
  Entry join(Object address, Runnable drain) {
    Lane lane = lanes.computeIfAbsent(address, Lane::new);
    lane.connections++;
    return new Entry(lane, drain);
  }

  /** Removes a connection, which may still wait for its turn. Once for each. */
  void leave(Entry entry) {
    Lane lane = entry.lane;
    lane.connections--;
    if (lane.connections == 0) {
      lanes.remove(lane.address);
    }
  }

  /**
   * Appends a connection to those of its address.
   *
   * @return false if it waits already
   */
  boolean add(Entry entry) {
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

  /** Removes and returns the connection whose turn it is; null for none. */
  @Nullable Entry poll() {
    Lane lane = waiting.poll();
    if (lane == null) {
      return null;
    }
    Entry entry = lane.first;
    if (entry == null) {
      throw new IllegalStateException("an address without connections waited for its turn");
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

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Returns the number of addresses with connections. */
  int addresses() {
    return lanes.size();
  }
}
