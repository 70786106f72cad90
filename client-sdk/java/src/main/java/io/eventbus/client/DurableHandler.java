package io.eventbus.client;

/**
 * Handler of the events of durable topics.
 *
 * <p>Called by one thread at a time for each consumer, in the order of positions, never on an I/O
 * thread. It may block: the events that follow wait at the bus, and hold up nobody. An event counts
 * as handled when this returns. After an exception the event is handed over again, first after a
 * second, then after longer pauses of at most two minutes, until this returns: so the consumer
 * stands still as long as its handler fails. A handler that wants to go on without an event catches
 * its exceptions.
 *
 * <p>It must not wait for an answer to its own client: see {@link EventHandler}.
 */
@FunctionalInterface
public interface DurableHandler {
  /**
   * Handles an event.
   *
   * @param event the event, with its {@link ReceivedEvent#position}
   * @throws Exception if it could not be handled; it is handed over again
   */
  void onEvent(ReceivedEvent event) throws Exception;

  /**
   * Called when events do not come, in order with the events. Does nothing by default; the {@link
   * ConnectionListener} is told in any case.
   *
   * @param truncated which, and why
   * @throws Exception if it could not be handled; this is called again as for an event
   */
  default void onTruncated(Truncated truncated) throws Exception {}
}
