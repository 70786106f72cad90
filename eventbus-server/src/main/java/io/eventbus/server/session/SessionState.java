package io.eventbus.server.session;

import java.util.EnumSet;
import java.util.Set;

/**
 * Life cycle of a session.
 *
 * <pre>
 *   AWAITING_HELLO --Hello--> AUTHENTICATING --Welcome--> OPEN --> CLOSED
 *         \-------------------------\--------- refused ------------^
 * </pre>
 */
enum SessionState {
  AWAITING_HELLO,
  AUTHENTICATING,
  OPEN,
  CLOSED;

  private Set<SessionState> next() {
    return switch (this) {
      case AWAITING_HELLO -> EnumSet.of(AUTHENTICATING, CLOSED);
      case AUTHENTICATING -> EnumSet.of(OPEN, CLOSED);
      case OPEN -> EnumSet.of(CLOSED);
      case CLOSED -> EnumSet.noneOf(SessionState.class);
    };
  }

  /**
   * Returns the new state.
   *
   * @throws IllegalStateException if the table above has no such transition
   */
  SessionState to(SessionState state) {
    if (!next().contains(state)) {
      throw new IllegalStateException(
          "session: " + this + " -> " + state + " (expected: " + next() + ")");
    }
    return state;
  }
}
