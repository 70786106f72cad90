package io.eventbus.client;

/** Reaction of publishing to a full outbound buffer. */
public enum WhenFull {
  /** Waits, but not longer than the builder's {@code blockTimeout}. */
  BLOCK,
  /** Fails at once: {@link EventBusException.BufferFull} or {@link SendResult#FULL}. */
  FAIL,
  /** Drops the new event, counts it, and tells the {@link ConnectionListener}. */
  DROP
}
