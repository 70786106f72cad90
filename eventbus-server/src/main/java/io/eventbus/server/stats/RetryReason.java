package io.eventbus.server.stats;

/** Why the bus gave a call to another member. */
public enum RetryReason {
  /** The member has said that it did nothing with it. */
  REFUSED,
  /** The member went before the call was written to it. */
  UNWRITTEN,
  /** Another bus had no free place, or no member. */
  BUSY,
  /** The member went with it, and the caller allows that it is executed twice. */
  LOST
}
