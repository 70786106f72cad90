package io.eventbus.server.admission;

import io.eventbus.server.stats.RefusalReason;

/** Whether a connection may come in. */
public sealed interface Admission {
  /**
   * It may.
   *
   * @param account what it has of its address's share; to be closed with the connection
   */
  record Admitted(ConnectionUsage account) implements Admission {}

  /** It may not, for now. */
  record Refused(RefusalReason reason, String message) implements Admission {}
}
