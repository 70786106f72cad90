package io.eventbus.server.transport;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The order in which a loop writes to its connections: one connection of each client address in
 * turn, those of one address in the order in which something became due. Thousands of connections
 * of one address delay the few of another by little. Confined to the loop.
 */
final class FairWriteQueue {
  /** The connections of one address on this loop. */
  private static final class Lane {
    final Object address;
    int connections;
    @Nullable Entry first;
    @Nullable Entry last;

    Lane(Object address) {
      this.address = address;
    }
  }

  /** One connection's place. */
  static final class Entry {
    private final Lane lane;
    private final Runnable drain;
    private @Nullable Entry next;
    private boolean due;

    private Entry(Lane lane, Runnable drain) {
      this.lane = lane;
      this.drain = drain;
    }

    /** Writes to the connection. */
    void drain() {
      drain.run();
    }
  }

  private final Map<Object, Lane> lanes = new HashMap<>();
  private final ArrayDeque<Lane> waiting = new ArrayDeque<>();

  /**
   * A connection has come.
   *
   * @param address what connections have in common that share a turn
   * @param drain writes to it; called by whoever {@linkplain #poll took} the entry
   */
  Entry join(Object address, Runnable drain) {
    Lane lane = lanes.computeIfAbsent(address, Lane::new);
    lane.connections++;
    return new Entry(lane, drain);
  }

  /** A connection has gone, which may still wait for its turn. Once for each. */
  void leave(Entry entry) {
    Lane lane = entry.lane;
    lane.connections--;
    if (lane.connections == 0) {
      lanes.remove(lane.address);
    }
  }

  /**
   * Puts a connection at the end of those of its address.
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

  /** Takes out the connection whose turn it is; null for none. */
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

  /** How many addresses have connections. */
  int addresses() {
    return lanes.size();
  }
}
