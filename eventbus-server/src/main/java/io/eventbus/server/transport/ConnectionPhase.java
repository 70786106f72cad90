package io.eventbus.server.transport;

import java.util.EnumSet;
import java.util.Set;

/**
 * Phase in the life of a WebSocket connection after the upgrade.
 *
 * <pre>
 *   OPEN --Close sent--> CLOSING --Close received, end of stream or deadline--> CLOSED
 *     \------------------ connection lost ----------------------------------------^
 * </pre>
 */
enum ConnectionPhase {
  OPEN,
  CLOSING,
  CLOSED;

  private Set<ConnectionPhase> next() {
    return switch (this) {
      case OPEN -> EnumSet.of(CLOSING, CLOSED);
      case CLOSING -> EnumSet.of(CLOSED);
      case CLOSED -> EnumSet.noneOf(ConnectionPhase.class);
    };
  }

  /** Returns the new phase, or throws if the table above has no such arrow. */
  ConnectionPhase to(ConnectionPhase phase) {
    if (!next().contains(phase)) {
      throw new IllegalStateException(
          "connection: " + this + " -> " + phase + " (expected: " + next() + ")");
    }
    return phase;
  }
}
