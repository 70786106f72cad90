package io.eventbus.client;

/** What publishing does when the outbound buffer is full. */
public enum WhenFull {
  /** The caller waits, but not longer than the builder's {@code blockTimeout}. */
  BLOCK,
  /** The call fails at once: {@link EventBusException.BufferFull} or {@link SendResult#FULL}. */
  FAIL,
  /** The new event is dropped, counted, and told to the {@link ConnectionListener}. */
  DROP
}
