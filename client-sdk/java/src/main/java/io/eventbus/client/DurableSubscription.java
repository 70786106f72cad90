package io.eventbus.client;

import java.util.concurrent.CompletionStage;

/**
 * Consumer of durable topics. It survives reconnects, and gets each event once as long as it runs.
 * Any thread may use it.
 */
public interface DurableSubscription {
  /**
   * Returns the name under which the bus remembers what is handled.
   *
   * @return the name, or the empty text for none
   */
  String name();

  /**
   * Returns the filter.
   *
   * @return the filter
   */
  String filter();

  /**
   * Returns a stage that completes when the bus has accepted the consumer. With a name it may stand
   * by then, because another consumer has the durable subscription. If that fails, the consumer is
   * ended; without a call of this method, {@link ConnectionListener#problem} reports the failure.
   *
   * @return a stage that completes with this consumer, or with {@link EventBusException.Refused}
   *     (see its {@code retryable}), {@link EventBusException.TimedOut} or {@link
   *     EventBusException.Closed}; never on an I/O thread
   */
  CompletionStage<DurableSubscription> ready();

  /**
   * Returns how far the consumer has come.
   *
   * @return the position up to which every event has been handled; 0 before the first
   */
  long position();

  /**
   * Returns how far the consumer is behind its journal.
   *
   * @return positions from {@link #position} to the end of the journal as the bus has told it last:
   *     at least 0, and an upper bound for the events that wait, because not all need be for this
   *     consumer
   */
  long lag();

  /**
   * Ends the consumer: the handler finishes the event that it has, and the bus is told what is
   * handled. Events that wait in this client are dropped; with a name, the next consumer gets them.
   *
   * @return a stage that completes at the end; the same stage for every call
   */
  CompletionStage<Void> unsubscribe();

  /**
   * Returns the counts so far.
   *
   * @return a snapshot; the counters in it are not taken at exactly the same moment
   */
  Counters counters();

  /**
   * Counts of a consumer.
   *
   * @param received events that were handled
   * @param duplicates events that came again and were dropped
   * @param failed failures of the handler
   * @param bufferedBytes bytes that wait for the handler now
   */
  record Counters(long received, long duplicates, long failed, long bufferedBytes) {}
}
