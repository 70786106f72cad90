package io.eventbus.client.internal.call;

/**
 * State of a request.
 *
 * <pre>
 *   WAITING --> SENT --> DONE
 *      ^         |
 *      |         v
 *      '----- PAUSING      (and from each state to DONE)
 * </pre>
 */
enum RequestState {
  /** Waiting for a connection, or for its turn there: no bus has it. */
  WAITING,
  /** Sent over a connection. */
  SENT,
  /** Failed, to be sent again after a pause. */
  PAUSING,
  /** Settled. */
  DONE;

  boolean mayBecome(RequestState next) {
    return switch (this) {
      case WAITING -> next == SENT || next == DONE;
      // Sent again at once when its connection is lost.
      case SENT -> next == PAUSING || next == WAITING || next == DONE;
      case PAUSING -> next == WAITING || next == DONE;
      case DONE -> false;
    };
  }
}
