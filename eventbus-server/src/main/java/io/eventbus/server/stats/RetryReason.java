package io.eventbus.server.stats;

/** Reason why the bus gave a call to another member. */
public enum RetryReason {
  /** The member did nothing with it, by its own word. */
  REFUSED,
  /** The member left before the call was written to it. */
  UNWRITTEN,
  /** A peer had no free place, or no member. */
  BUSY,
  /** The member was lost with it, and the caller allows a second execution. */
  LOST
}
