package io.eventbus.client;

import java.util.concurrent.CompletionStage;

/**
 * A subscription that events are being delivered for; it survives reconnects. Any thread may use
 * it.
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
   * Tells when the bus has confirmed the subscription for the first time: every event that it
   * receives after that is delivered. Where it fails, the subscription is ended, also at the bus;
   * where nobody calls this method, {@link ConnectionListener#problem} is told of the failure.
   *
   * @return a stage that completes with this subscription, or with {@link
   *     EventBusException.Refused} (see its {@code retryable}), {@link EventBusException.TimedOut}
   *     or {@link EventBusException.Closed}; never on an I/O thread
   */
  CompletionStage<Subscription> ready();

  /**
   * Ends the subscription: the bus sends nothing more for it, and what it has sent is still
   * handled.
   *
   * @return a stage that completes when the last event has been handled; the same stage for every
   *     call
   */
  CompletionStage<Void> unsubscribe();

  /**
   * Returns what has happened so far.
   *
   * @return a snapshot; the counters in it are not taken at exactly the same moment
   */
  Counters counters();

  /**
   * What has happened to a subscription.
   *
   * @param received events handed to the handler, or taken by the reader
   * @param duplicates events that were received again and dropped
   * @param missing events that were told as a {@link Gap}
   * @param interruptions how often it was not in force for some time, as an {@link Interruption}
   *     has told
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
