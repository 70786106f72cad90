package io.eventbus.server.session;

/**
 * Hears what becomes of a client that was asked to go to another bus: {@link #progresses} perhaps
 * several times, then one of the others once, on the session's loop. An implementation must not
 * block and must not throw.
 */
public interface MoveListener {
  /** The client has read the request, or has done a step of what it was asked for. */
  void progresses();

  /**
   * The client has left but for calls and tunnels that go on here; {@link #left} follows. At most
   * once.
   */
  default void trails() {}

  /** The client has left: its session here has ended. */
  void left();

  /** The client has declined: it stays. */
  void declined(String why);
}
