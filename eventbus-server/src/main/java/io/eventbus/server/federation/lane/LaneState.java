package io.eventbus.server.federation.lane;

import java.util.EnumSet;
import java.util.Set;

/**
 * Life cycle of a lane at the bus that opens it.
 *
 * <pre>
 *   DOWN --&gt; CONNECTING --&gt; UP
 *     ^----------+----------/
 *   any of them --&gt; CLOSED
 * </pre>
 */
public enum LaneState {
  /** No connection; the next attempt comes after a pause. */
  DOWN,
  /** Connection is being opened, or the other side has not welcomed it yet. */
  CONNECTING,
  /** Events flow. */
  UP,
  /** Lane has ended. */
  CLOSED;

  private Set<LaneState> next() {
    return switch (this) {
      case DOWN -> EnumSet.of(CONNECTING, CLOSED);
      case CONNECTING -> EnumSet.of(UP, DOWN, CLOSED);
      case UP -> EnumSet.of(DOWN, CLOSED);
      case CLOSED -> EnumSet.noneOf(LaneState.class);
    };
  }

  /**
   * Returns the new state.
   *
   * @throws IllegalStateException if the table above has no such transition
   */
  public LaneState to(LaneState state) {
    if (!next().contains(state)) {
      throw new IllegalStateException(
          "lane: " + this + " -> " + state + " (expected: " + next() + ")");
    }
    return state;
  }
}
