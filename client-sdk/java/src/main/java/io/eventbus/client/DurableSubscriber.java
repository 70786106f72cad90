package io.eventbus.client;

/**
 * Half of an {@link EventBusClient} that consumes stored events. Any thread may call any method.
 */
public interface DurableSubscriber {
  /**
   * Prepares a consumer of a durable subscription: the bus remembers under its name what is
   * handled, and the next consumer goes on there. An event is settled when the handler returns.
   * Events that were handled shortly before a client ended without {@link
   * DurableSubscription#unsubscribe} come again. Of several consumers of one name, in any client,
   * one gets the events and the others stand by, or with {@link DurableBuilder#shared} each gets
   * some of them.
   *
   * @param name unique in the journal
   * @return a builder, of which {@link DurableBuilder#handler} begins to consume
   */
  DurableBuilder durable(String name);

  /**
   * Prepares a consumer that the bus remembers nothing of: it begins where the builder says, and
   * goes on with what is stored later.
   *
   * @return a builder, of which {@link DurableBuilder#handler} begins to consume
   */
  DurableBuilder replay();

  /**
   * Consumes the latest value of each topic, and then every change: only for a journal that keeps
   * the latest values.
   *
   * @param filter the topics
   * @param handler handles the events, one at a time
   * @return the consumer
   * @throws EventBusException.IllegalTopic if the filter breaks the rules
   * @throws EventBusException.Closed if the client is closed
   */
  default DurableSubscription latest(String filter, DurableHandler handler) {
    return replay().filter(filter).from(Start.LATEST_VALUES).handler(handler);
  }
}
