package io.eventbus.client;

/**
 * Events that were published but not delivered to this client: a hole in the sequence of one
 * producer and topic.
 *
 * @param topic the topic
 * @param producer the publisher's number
 * @param from the sequence of the first missing event
 * @param to the sequence of the last missing event
 * @param reason why they are missing, as far as is known
 */
public record Gap(String topic, long producer, long from, long to, Reason reason) {
  /** Why events are missing. */
  public enum Reason {
    /** They did not arrive: lost with a connection or a bus, or refused by the bus. */
    LOST,
    /** The queue for this client was full and its policy was {@link Overflow#DROP_OLDEST}. */
    QUEUE_FULL,
    /** Later events of the same keys took their places. */
    CONFLATED
  }

  /**
   * Counts the missing events.
   *
   * @return at least 1
   */
  public long count() {
    return to - from + 1;
  }
}
