package io.eventbus.server.admission;

import io.eventbus.server.stats.RefusalReason;

/** Decision on a new connection. */
public sealed interface Admission {
  /**
   * The connection is admitted.
   *
   * @param account its part of its address's share; to be closed with the connection
   */
  record Admitted(ConnectionUsage account) implements Admission {}

  /** The connection is refused, for now. */
  record Refused(RefusalReason reason, String message) implements Admission {}
}
