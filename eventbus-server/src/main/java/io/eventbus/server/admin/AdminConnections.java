package io.eventbus.server.admin;

import io.eventbus.server.admission.ClientAddress;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Open connections of the administration port. If there are too many, those are closed that wait
 * for their client: for its request, or for it to take its answer. So idle connections keep nobody
 * away. Confined to the thread of the sockets.
 */
final class AdminConnections {
  /**
   * Maximum of connections of one address that wait for their client; the oldest makes way for
   * another.
   */
  static final int MAX_OF_ADDRESS = 64;

  private final int max;
  private int open;

  /** Connections that wait for their client, in the order in which they began to. */
  private final Map<ClientAddress, LinkedHashSet<AdminConnection>> waiting = new HashMap<>();

  /** Creates an empty table for at most so many connections. */
  AdminConnections(int max) {
    this.max = max;
  }

  /**
   * Adds a connection, which waits for its client; returns false if there are too many, and none of
   * them waits.
   */
  boolean add(AdminConnection added) {
    if (open >= max) {
      AdminConnection evicted = oldestOfMost();
      if (evicted == null) {
        return false;
      }
      evicted.cut();
    }
    open++;
    waits(added);
    return true;
  }

  /** Notes that a connection waits for its client from now on. */
  void waits(AdminConnection connection) {
    LinkedHashSet<AdminConnection> ofAddress =
        waiting.computeIfAbsent(connection.address(), address -> new LinkedHashSet<>());
    ofAddress.add(connection);
    if (ofAddress.size() > MAX_OF_ADDRESS) {
      ofAddress.iterator().next().cut();
    }
  }

  /** Notes that the client of a connection waits for its answer. */
  void works(AdminConnection connection) {
    waiting.computeIfPresent(
        connection.address(),
        (address, ofAddress) -> {
          ofAddress.remove(connection);
          return ofAddress.isEmpty() ? null : ofAddress;
        });
  }

  /** Removes a connection that was added, once. */
  void remove(AdminConnection removed) {
    works(removed);
    open--;
  }

  private @Nullable AdminConnection oldestOfMost() {
    return waiting.values().stream()
        .reduce((one, other) -> one.size() >= other.size() ? one : other)
        .map(ofAddress -> ofAddress.iterator().next())
        .orElse(null);
  }
}
