package io.eventbus.client.internal.call;

/**
 * How far a request is.
 *
 * <pre>
 *   WAITING --> SENT --> DONE
 *      ^         |
 *      |         v
 *      '----- PAUSING      (and from each state to DONE)
 * </pre>
 */
enum RequestState {
  /** Waits for a connection, or for its turn there: no bus has it. */
  WAITING,
  /** A connection has taken it. */
  SENT,
  /** It failed, and is sent again after a pause. */
  PAUSING,
  /** It has its outcome. */
  DONE;

  boolean mayBecome(RequestState next) {
    return switch (this) {
      case WAITING -> next == SENT || next == DONE;
      // It is sent again at once when its connection is lost.
      case SENT -> next == PAUSING || next == WAITING || next == DONE;
      case PAUSING -> next == WAITING || next == DONE;
      case DONE -> false;
    };
  }
}
