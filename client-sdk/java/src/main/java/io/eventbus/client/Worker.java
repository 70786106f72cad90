package io.eventbus.client;

import java.util.concurrent.CompletionStage;

/**
 * Consumer that shares the events of a durable subscription with others. It survives reconnects.
 * Any thread may use it.
 */
public interface Worker {
  /**
   * Returns the name of the durable subscription.
   *
   * @return the name
   */
  String name();

  /**
   * Returns the filter.
   *
   * @return the filter
   */
  String filter();

  /**
   * Returns a stage that completes when the bus has accepted the consumer. If that fails, the
   * consumer is ended; without a call of this method, {@link ConnectionListener#problem} reports
   * the failure.
   *
   * @return a stage that completes with this consumer, or with {@link EventBusException.Refused}
   *     (see its {@code retryable}), {@link EventBusException.TimedOut} or {@link
   *     EventBusException.Closed}; never on an I/O thread
   */
  CompletionStage<Worker> ready();

  /**
   * Ends the consumer: events that wait in this client go to other consumers, handlers finish the
   * events that they have, and the bus is told. A handler must not wait for it.
   *
   * @return a stage that completes at the end, at the latest when the ack timeout of deferred
   *     events is over and each handler has returned; the same stage for every call
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
   * @param received events that a handler has got
   * @param done events that were settled as done
   * @param retried events that were settled to come again
   * @param rejected events that were made dead letters
   * @param late settlements that were dropped, because the connection of their event was gone
   * @param failed failures of the handler
   * @param bufferedBytes bytes of events that are not settled now
   */
  record Counters(
      long received,
      long done,
      long retried,
      long rejected,
      long late,
      long failed,
      long bufferedBytes) {}
}
