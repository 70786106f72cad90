package io.eventbus.client;

/** What a bus does with the events of a subscriber that does not read fast enough. */
public enum Overflow {
  /**
   * The bus stops reading the publishers that feed the full queue, so that nothing is lost; a
   * subscriber that stays slow past the bus's deadline is closed and reconnects.
   */
  BLOCK,
  /** The oldest queued events make room; each loss is told as a {@link Gap}. */
  DROP_OLDEST,
  /**
   * Of the events that wait, at the bus and in the client, the last of each topic and key is kept;
   * each one that is left out is told as a {@link Gap}. A slow handler sees what is new.
   */
  CONFLATE,
  /** The connection is closed, and reconnects. */
  DISCONNECT
}
