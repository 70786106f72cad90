package io.eventbus.server.call;

import java.util.EnumSet;
import java.util.Set;

/**
 * What a call is doing, as the loop of its caller sees it.
 *
 * <pre>
 *   FREE ──► READY ──► QUEUED
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

  private Set<CallState> next() {
    return switch (this) {
      case FREE -> EnumSet.of(READY);
      case READY -> EnumSet.of(QUEUED, DISPATCHED, FREE);
      case QUEUED -> EnumSet.of(DISPATCHED, FREE);
      case DISPATCHED -> EnumSet.of(READY, ENDED, FREE);
      case ENDED -> EnumSet.of(FREE);
    };
  }

  private static final boolean[][] LEGAL = new boolean[values().length][values().length];

  static {
    for (CallState from : values()) {
      for (CallState to : from.next()) {
        LEGAL[from.ordinal()][to.ordinal()] = true;
      }
    }
  }

  /** Returns the next state, or throws if there is no such way. */
  CallState to(CallState next) {
    if (!LEGAL[ordinal()][next.ordinal()]) {
      throw new IllegalStateException("call: " + this + " -> " + next + " (not in the table)");
    }
    return next;
  }
}
