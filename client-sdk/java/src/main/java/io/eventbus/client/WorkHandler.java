package io.eventbus.client;

/**
 * Handler of the events of a shared durable subscription.
 *
 * <p>Called by as many threads at a time as the worker has concurrency, never on an I/O thread, and
 * in no order that can be relied on. It may block: other consumers get the events that follow. When
 * this returns, the event is done, unless the delivery was settled or deferred. After an exception
 * the event comes again to some consumer, after a pause that the bus chooses; the message of the
 * exception is the reason that operators see.
 *
 * <p>An event may come more than once, also to two consumers at the same time: when its ack timeout
 * is over, or its connection is lost, before it is settled. It must not wait for an answer to its
 * own client: see {@link EventHandler}.
 */
@FunctionalInterface
public interface WorkHandler {
  /**
   * Handles an event.
   *
   * @param event the event, with its {@link ReceivedEvent#position}
   * @param delivery settles it, where returning is not enough
   * @throws Exception if it could not be handled; it comes again later
   */
  void onEvent(ReceivedEvent event, WorkDelivery delivery) throws Exception;
}
