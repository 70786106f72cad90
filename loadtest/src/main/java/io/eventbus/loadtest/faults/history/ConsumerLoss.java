package io.eventbus.loadtest.faults.history;

/**
 * Loss of what a consumer had and had not settled.
 *
 * @param client which has no other consumer
 */
public record ConsumerLoss(String client, Kind kind, long at) {
  /** Kind of a loss. */
  public enum Kind {
    /** The client cuts its connection; the time is before that. */
    CUT,
    /** The consumer ends in order, which is no attempt; the time is before that. */
    END,
    /** The client is told that its connection or its consumer has ended, perhaps later. */
    TOLD
  }
}
