package io.eventbus.journal;

/**
 * Range of positions whose events are not given out. Some may be of topics that the reader does not
 * want.
 *
 * @param reason why
 * @param from the first position
 * @param to the last position
 */
public record ReadHole(Reason reason, long from, long to) {
  /** Reason of a hole. */
  public enum Reason {
    /** Removed because the journal keeps no more. */
    TRIMMED,
    /** Removed on purpose, one by one. */
    PURGED,
    /** Past their time to live. */
    EXPIRED,
    /** Cannot be read from any disk. */
    DAMAGED
  }
}
