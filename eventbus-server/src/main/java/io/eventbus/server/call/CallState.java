package io.eventbus.server.call;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * State of a call on the loop of its caller.
 *
 * <pre>
 *   FREE ──► READY ◄─► QUEUED
 *     ▲       ▲ │ ╲      │
 *     │       │ ▼  ▼     ▼
 *     │       └─ DISPATCHED ──► ENDED
 *     └──── from any ────────────┘
 * </pre>
 *
 * <p>The member's connection knows whether a dispatched call was written to the member, and is
 * asked when the call ends.
 */
enum CallState {
  /** Object is not in use. */
  FREE,
  /** Call has to go to a member or into a queue now. */
  READY,
  /** Call waits for a place in a member's window. */
  QUEUED,
  /** Member has the call, or it is on its way there. */
  DISPATCHED,
  /** Caller has its answer, but the member has not returned the call. */
  ENDED;

  private static final Map<CallState, Set<CallState>> TABLE = new EnumMap<>(CallState.class);

  static {
    TABLE.put(FREE, EnumSet.of(READY));
    TABLE.put(READY, EnumSet.of(QUEUED, DISPATCHED, FREE));
    TABLE.put(QUEUED, EnumSet.of(READY, DISPATCHED, FREE));
    TABLE.put(DISPATCHED, EnumSet.of(READY, ENDED, FREE));
    TABLE.put(ENDED, EnumSet.of(FREE));
  }

  /**
   * Returns the next state.
   *
   * @throws IllegalStateException if there is no such transition
   */
  CallState to(CallState next) {
    Set<CallState> legal = TABLE.get(this);
    if (legal == null || !legal.contains(next)) {
      throw new IllegalStateException("call: " + this + " -> " + next + " (not in the table)");
    }
    return next;
  }
}
