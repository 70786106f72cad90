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
  /** Nothing has been done yet. */
  NEW,
  /** The first connection is being made. */
  CONNECTING,
  /** Welcomed by a bus. */
  CONNECTED,
  /** The connection was lost and another one is being made; publishing fills the buffer. */
  RECONNECTING,
  /** Closing: what is buffered is sent and handled, nothing new is taken. */
  DRAINING,
  /** The end; nothing leads out of it. */
  CLOSED;

  /**
   * Says whether a change of state is legal.
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
