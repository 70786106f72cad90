package io.eventbus.client;

/**
 * Events of durable topics that a consumer does not get.
 *
 * @param filter of the consumer
 * @param from the first position
 * @param to the last position; not every position from the first to this one need have an event for
 *     the consumer
 * @param reason why they do not come
 */
public record Truncated(String filter, long from, long to, Reason reason) {
  /** Reason why events do not come. */
  public enum Reason {
    /** The reason is newer than this SDK, or there are several. */
    UNKNOWN,
    /** The journal has removed its oldest events before this consumer got them. */
    RETENTION,
    /** An operator has removed them. */
    PURGED,
    /** They are past their time to live. */
    EXPIRED,
    /** They cannot be read from any disk. */
    DAMAGED,
    /**
     * Their journal was deleted, and one was created again under its name: events that follow have
     * the positions of the new one, where the consumer begins at its start.
     */
    DELETED
  }
}
