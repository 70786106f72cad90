package io.eventbus.client;

/**
 * Takes the events of a subscription.
 *
 * <p>Called by one thread at a time for each subscription, in the order of each producer and topic,
 * never on an I/O thread. It may block: the events that follow wait, first in the subscription's
 * buffer, then at the bus, where the overflow policy decides. An exception is counted and told to
 * the {@link ConnectionListener}; the stream goes on with the next event.
 */
@FunctionalInterface
public interface EventHandler {
  /**
   * Takes an event.
   *
   * @param event the event
   * @throws Exception if the event could not be handled; it is not delivered again
   */
  void onEvent(ReceivedEvent event) throws Exception;
}
