package io.eventbus.server.call;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * What a call is doing, as the loop of its caller sees it.
 *
 * <pre>
 *   FREE ──► READY ◄─► QUEUED
 *     ▲       ▲ │ ╲      │
 *     │       │ ▼  ▼     ▼
 *     │       └─ DISPATCHED ──► ENDED
 *     └──── from any ────────────┘
 * </pre>
 *
 * <p>Whether a call that was dispatched has been written to its member is known to the member's
 * connection, which is asked when it ends.
 */
enum CallState {
  /** The object is not in use. */
  FREE,
  /** It has to go to a member or into a queue now. */
  READY,
  /** It waits for a place in a member's window. */
  QUEUED,
  /** A member has it, or it is on its way there. */
  DISPATCHED,
  /** The caller has its answer, but the member has not given the call back. */
  ENDED;

  private static final Map<CallState, Set<CallState>> TABLE = new EnumMap<>(CallState.class);

  static {
    TABLE.put(FREE, EnumSet.of(READY));
    TABLE.put(READY, EnumSet.of(QUEUED, DISPATCHED, FREE));
    TABLE.put(QUEUED, EnumSet.of(READY, DISPATCHED, FREE));
    TABLE.put(DISPATCHED, EnumSet.of(READY, ENDED, FREE));
    TABLE.put(ENDED, EnumSet.of(FREE));
  }

  /** Returns the next state, or throws if there is no such way. */
  CallState to(CallState next) {
    Set<CallState> legal = TABLE.get(this);
    if (legal == null || !legal.contains(next)) {
      throw new IllegalStateException("call: " + this + " -> " + next + " (not in the table)");
    }
    return next;
  }
}
