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
    /** The connection is lost, and the client is told. */
    DISCONNECTED,
    /**
     * The bus has ended the consumer or its connection, perhaps in order, and the client is told.
     */
    REPLACED
  }
}
