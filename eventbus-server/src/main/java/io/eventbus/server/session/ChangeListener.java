package io.eventbus.server.session;

/**
 * Hears what became of a client that was asked to go to another bus: one call, on the session's
 * loop. An implementation must not block and must not throw.
 */
public interface ChangeListener {
  /** The client is not here any more. */
  void gone();

  /**
   * The client stays.
   *
   * @param why what it said, for people
   */
  void stays(String why);
}
