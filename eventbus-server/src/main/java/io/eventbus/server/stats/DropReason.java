package io.eventbus.server.stats;

/** Why events were not delivered to a subscriber. */
public enum DropReason {
  /** The queue was full and the policy DROP_OLDEST. */
  QUEUE_FULL,
  /** A later event of the same key took the place. */
  CONFLATED,
  /** They were queued for a connection that ended. */
  DISCONNECTED
}
