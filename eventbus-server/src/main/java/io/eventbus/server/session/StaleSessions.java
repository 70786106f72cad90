package io.eventbus.server.session;

/**
 * Ends what other buses still have of clients that have come here.
 *
 * <p>Implementers: any thread calls, loops among them, so it must not block. The id is what a
 * client says: it may name any bus, or nothing that there is.
 */
@FunctionalInterface
public interface StaleSessions {
  /** For a bus that serves alone. */
  StaleSessions NONE = (session, producer) -> {};

  /**
   * Asks the bus that an id names to end that session, if it has this producer number. It is not
   * told what comes of it: a session that is not ended has its own deadlines.
   */
  void end(String session, long producer);
}
