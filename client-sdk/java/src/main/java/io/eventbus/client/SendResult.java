package io.eventbus.client;

/** Result of sending an event without waiting for a confirmation. */
public enum SendResult {
  /** The event is in the outbound buffer and will be sent. */
  ACCEPTED,
  /**
   * The buffer is full and the client drops events that do not fit: the event is lost and counted.
   */
  DROPPED,
  /** The buffer is full and the event was not accepted: try again later. */
  FULL,
  /** The client is closed: the event was not accepted. */
  CLOSED;

  /**
   * Returns whether the event will be sent.
   *
   * @return true for {@link #ACCEPTED}
   */
  public boolean accepted() {
    return this == ACCEPTED;
  }
}
