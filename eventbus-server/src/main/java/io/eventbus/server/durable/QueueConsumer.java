package io.eventbus.server.durable;

import io.eventbus.journal.Settlement.Outcome;
import io.eventbus.schema.ErrorCode;

/**
 * Consumer whose client settles each event by itself, and that shares a durable subscription with
 * others. Confined to the loop except for what is said to be for any thread.
 */
public abstract class QueueConsumer extends JournalConsumer {
  QueueConsumer(JournalConsumers all, JournalInfo info, Wish wish, Line line) {
    super(all, info, wish, line);
  }

  /** Returns the last position that the client has got an event of; 0 for none. */
  public abstract long sentTo();

  /**
   * Settles events, for a consumer that is active.
   *
   * @param confirm whether the client waits for the answer
   */
  public abstract SharedConsumer.Settled settle(
      long from,
      long to,
      int attempt,
      Outcome outcome,
      long delayMillis,
      String reason,
      boolean confirm);

  /** Lets the time for events begin again; returns false if the consumer has some no more. */
  public abstract boolean extend(long from, long to, int attempt);

  /** Called by any thread when it is this consumer's turn, which it has to end. */
  abstract void turn();

  /** Called by any thread when the consumer may have other slots, or events that come again. */
  abstract void regrouped();

  /** Called by any thread when the journal is deleted. */
  final void deleted() {
    line.execute(() -> refused(ErrorCode.NO_JOURNAL, noJournal(), false));
  }
}
