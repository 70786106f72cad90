package io.eventbus.client;

import java.util.concurrent.CompletionStage;

/**
 * Subscription that events are being delivered for; it survives reconnects. Any thread may use it.
 */
public interface Subscription {
  /**
   * Returns the filter.
   *
   * @return the filter
   */
  String filter();

  /**
   * Returns the options.
   *
   * @return the options
   */
  SubscribeOptions options();

  /**
   * Returns a stage that completes when the bus has confirmed the subscription for the first time:
   * every event that it receives after that is delivered. If that fails, the subscription is ended,
   * also at the bus; without a call of this method, {@link ConnectionListener#problem} reports the
   * failure.
   *
   * @return a stage that completes with this subscription, or with {@link
   *     EventBusException.Refused} (see its {@code retryable}), {@link EventBusException.TimedOut}
   *     or {@link EventBusException.Closed}; never on an I/O thread
   */
  CompletionStage<Subscription> ready();

  /**
   * Ends the subscription: the bus sends nothing more for it, and events that it has sent are still
   * handled.
   *
   * @return a stage that completes when the last event has been handled; the same stage for every
   *     call
   */
  CompletionStage<Void> unsubscribe();

  /**
   * Returns the counts so far.
   *
   * @return a snapshot; the counters in it are not taken at exactly the same moment
   */
  Counters counters();

  /**
   * Counts of a subscription.
   *
   * @param received events handed to the handler, or taken by the reader
   * @param duplicates events that were received again and dropped
   * @param missing events that were reported as a {@link Gap}
   * @param interruptions number of times that it was not in force, as an {@link Interruption}
   *     reported
   * @param failed events whose handler threw an exception
   * @param bufferedBytes bytes that wait for the handler now
   */
  record Counters(
      long received,
      long duplicates,
      long missing,
      long interruptions,
      long failed,
      long bufferedBytes) {}
}
