package io.eventbus.client;

import java.util.EnumSet;
import java.util.Set;

/**
 * The life of a client.
 *
 * <pre>
 *   NEW → CONNECTING → CONNECTED ⇄ RECONNECTING
 *            │             │            │
 *            │             └─ DRAINING ─┤
 *            └──────────────── ↓ ───────┘
 *                           CLOSED
 * </pre>
 */
public enum ClientState {
  /** Created; nothing has been done yet. */
  NEW,
  /** Making the first connection. */
  CONNECTING,
  /** Welcomed by a bus. */
  CONNECTED,
  /** Making another connection after a loss; publishing fills the buffer. */
  RECONNECTING,
  /** Closing: buffered events are sent and handled, nothing new is accepted. */
  DRAINING,
  /** Closed for good. */
  CLOSED;

  /**
   * Returns whether a change of state is legal.
   *
   * @param next the state to change to
   * @return true if it may follow this one
   */
  public boolean mayBecome(ClientState next) {
    return successors().contains(next);
  }

  private Set<ClientState> successors() {
    return switch (this) {
      case NEW -> EnumSet.of(CONNECTING, CLOSED);
      case CONNECTING -> EnumSet.of(CONNECTED, CLOSED);
      case CONNECTED -> EnumSet.of(RECONNECTING, DRAINING, CLOSED);
      case RECONNECTING -> EnumSet.of(CONNECTED, DRAINING, CLOSED);
      case DRAINING -> EnumSet.of(CLOSED);
      case CLOSED -> EnumSet.noneOf(ClientState.class);
    };
  }
}
