package io.eventbus.client;

/** What became of an event that was sent without waiting for a confirmation. */
public enum SendResult {
  /** The event is in the outbound buffer and will be sent. */
  ACCEPTED,
  /** The buffer is full and the client drops what does not fit: the event is lost and counted. */
  DROPPED,
  /** The buffer is full and the event was not taken: try again later. */
  FULL,
  /** The client is closed: the event was not taken. */
  CLOSED;

  /**
   * Says whether the event will be sent.
   *
   * @return true for {@link #ACCEPTED}
   */
  public boolean accepted() {
    return this == ACCEPTED;
  }
}
