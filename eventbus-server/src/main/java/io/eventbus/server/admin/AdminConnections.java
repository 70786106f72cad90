package io.eventbus.server.admin;

import io.eventbus.server.admission.ClientAddress;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of the administration port. Where there are too many, those end that wait
 * for their client: for its request, or for it to take its answer. So nobody is kept away by
 * connections that ask nothing. Confined to the thread of the sockets.
 */
final class AdminConnections {
  /** Connections of one address that wait for their client; the oldest makes way for another. */
  static final int MAX_OF_ADDRESS = 64;

  private final int most;
  private int open;

  /** Connections that wait for their client, in the order in which they began to. */
  private final Map<ClientAddress, LinkedHashSet<AdminConnection>> waiting = new HashMap<>();

  /**
   * Makes one without connections.
   *
   * @param most how many may be open
   */
  AdminConnections(int most) {
    this.most = most;
  }

  /**
   * Adds a connection, which waits for its client.
   *
   * @return false if there are too many, and none of them waits
   */
  boolean add(AdminConnection added) {
    if (open >= most) {
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
