package io.eventbus.client;

import org.jspecify.annotations.Nullable;

/**
 * Events that were published but not delivered to this client: a hole in the sequence of one
 * producer and topic.
 *
 * @param topic the topic
 * @param producer the publisher's number
 * @param from the sequence of the first missing event
 * @param to the sequence of the last missing event
 * @param reason why they are missing, as far as is known
 * @param filter of the subscription that is told, or whose buffer here they were dropped of; null
 *     where the {@link ConnectionListener} is told once for all subscriptions
 */
public record Gap(
    String topic, long producer, long from, long to, Reason reason, @Nullable String filter) {
  /**
   * Creates a gap that names no subscription.
   *
   * @param topic as above
   * @param producer as above
   * @param from as above
   * @param to as above
   * @param reason as above
   */
  public Gap(String topic, long producer, long from, long to, Reason reason) {
    this(topic, producer, from, to, reason, null);
  }

  /** Reason why events are missing. */
  public enum Reason {
    /** They did not arrive: lost with a connection or a bus, or refused by the bus. */
    LOST,
    /** The queue for this client was full and its policy was {@link Overflow#DROP_OLDEST}. */
    QUEUE_FULL,
    /** Later events of the same keys took their places in the queue for this client. */
    CONFLATED,
    /** The buffer of the subscription, in this client, was full: the oldest events are dropped. */
    BUFFER_FULL,
    /** Later events of the same keys came to this client before these were handled. */
    BUFFER_CONFLATED
  }

  /**
   * Returns the number of missing events.
   *
   * @return at least 1
   */
  public long count() {
    return to - from + 1;
  }
}
