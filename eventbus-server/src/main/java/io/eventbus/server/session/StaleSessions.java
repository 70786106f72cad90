package io.eventbus.server.session;

/**
 * Closes sessions that peers still have of clients that have moved or come back here.
 *
 * <p>Implementers: any thread calls, loops among them, so it must not block. The id comes from a
 * client: it may name any bus, or nothing at all.
 */
@FunctionalInterface
public interface StaleSessions {
  /** Closer for a bus that serves alone. */
  StaleSessions NONE = (session, producer) -> {};

  /**
   * Asks the bus that an id names to close that session if it has this producer number. There is no
   * answer: a session that stays has its own deadlines.
   */
  void end(String session, long producer);
}
