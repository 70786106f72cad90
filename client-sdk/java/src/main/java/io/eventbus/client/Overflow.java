package io.eventbus.client;

/**
 * Policy for the events of a subscriber that does not read fast enough: in the queue of the bus,
 * and in the buffer of a subscription ({@link SubscribeOptions#bufferBytes}), which each has for
 * itself.
 */
public enum Overflow {
  /**
   * The bus stops reading the publishers that feed the full queue, so that nothing is lost; a
   * subscriber that stays slow past the bus's deadline is closed and reconnects. While its buffer
   * is full nothing comes for the other subscriptions of its client either; if that lasts, {@link
   * ConnectionListener#problem} says which stalls which.
   */
  BLOCK,
  /** The oldest events that wait make room; each loss is reported as a {@link Gap}. */
  DROP_OLDEST,
  /**
   * Of the events that wait, at the bus and in the client, the last of each topic and key is kept;
   * each dropped one is reported as a {@link Gap}. A slow handler sees the latest.
   */
  CONFLATE,
  /**
   * The connection is closed, and reconnects; the waiting events are reported as a {@link Gap}, and
   * the subscriptions of the client have an {@link Interruption}.
   */
  DISCONNECT
}
