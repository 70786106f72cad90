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
final class DrainOrder {
  /** The connections of one address on this loop. */
  static final class Lane {
    private final Object address;
    private int connections;
    private @Nullable WebSocketConnection first;
    private @Nullable WebSocketConnection last;

    private Lane(Object address) {
      this.address = address;
    }
  }

  private final Map<Object, Lane> lanes = new HashMap<>();
  private final ArrayDeque<Lane> waiting = new ArrayDeque<>();

  /**
   * A connection has come.
   *
   * @param address what connections have in common that share a turn
   * @return for {@link #leave}
   */
  Lane join(Object address) {
    Lane lane = lanes.computeIfAbsent(address, Lane::new);
    lane.connections++;
    return lane;
  }

  /** A connection has gone, which may still wait for its turn. */
  void leave(Lane lane) {
    lane.connections--;
    if (lane.connections == 0) {
      lanes.remove(lane.address);
    }
  }

  /** Puts a connection at the end of its lane. It must not be in the order already. */
  void add(WebSocketConnection connection) {
    Lane lane = connection.lane();
    WebSocketConnection last = lane.last;
    lane.last = connection;
    if (last == null) {
      lane.first = connection;
      waiting.add(lane);
    } else {
      last.nextInLane = connection;
    }
  }

  /** Takes out the connection whose turn it is. */
  @Nullable WebSocketConnection poll() {
    Lane lane = waiting.poll();
    if (lane == null) {
      return null;
    }
    WebSocketConnection connection = lane.first;
    if (connection == null) {
      throw new IllegalStateException("a lane without connections waited for its turn");
    }
    lane.first = connection.nextInLane;
    connection.nextInLane = null;
    if (lane.first == null) {
      lane.last = null;
    } else {
      waiting.add(lane);
    }
    return connection;
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }
}
