package io.eventbus.server.stats;

/** Reason why events were not delivered to a subscriber. */
public enum DropReason {
  /** The queue was full and the policy DROP_OLDEST. */
  QUEUE_FULL,
  /** A later event of the same key took the place. */
  CONFLATED,
  /** The connection ended while they were queued. */
  DISCONNECTED
}
