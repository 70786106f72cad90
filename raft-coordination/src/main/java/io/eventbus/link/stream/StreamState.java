package io.eventbus.link.stream;

import java.util.EnumSet;
import java.util.Set;

/**
 * Life cycle of a stream at the bus that opens it.
 *
 * <pre>
 *   DOWN --&gt; CONNECTING --&gt; UP
 *     ^----------+----------/
 *   any of them --&gt; CLOSED
 * </pre>
 */
public enum StreamState {
  /** No connection; the next attempt comes after a pause. */
  DOWN,
  /** Connection is being opened, or the other side has not welcomed it yet. */
  CONNECTING,
  /** Frames flow. */
  UP,
  /** Stream has ended. */
  CLOSED;

  private Set<StreamState> next() {
    return switch (this) {
      case DOWN -> EnumSet.of(CONNECTING, CLOSED);
      case CONNECTING -> EnumSet.of(UP, DOWN, CLOSED);
      case UP -> EnumSet.of(DOWN, CLOSED);
      case CLOSED -> EnumSet.noneOf(StreamState.class);
    };
  }

  /**
   * Returns the new state.
   *
   * @throws IllegalStateException if the table above has no such transition
   */
  public StreamState to(StreamState state) {
    if (!next().contains(state)) {
      throw new IllegalStateException(
          "stream: " + this + " -> " + state + " (expected: " + next() + ")");
    }
    return state;
  }
}
