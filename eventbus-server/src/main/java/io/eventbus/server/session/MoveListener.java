package io.eventbus.server.session;

/**
 * Listener for the outcome of a move that a client was asked for: {@link #progresses} perhaps
 * several times, then {@link #left} or {@link #declined} once, on the session's loop. An
 * implementation must not block and must not throw.
 */
public interface MoveListener {
  /** Called when the client has read the request or has completed a step of the move. */
  void progresses();

  /**
   * Called when the client has left except for calls and tunnels that go on here; {@link #left}
   * follows. At most once.
   */
  default void trails() {}

  /** Called when the client has left: its session here has ended. */
  void left();

  /** Called when the client stays here. */
  void declined(String reason);
}
