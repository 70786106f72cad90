package io.eventbus.client;

/** Builder of a consumer of durable topics. For one thread. */
public interface DurableBuilder {
  /**
   * Sets the topics.
   *
   * @param filter a topic, or a filter with {@code *} for one token and a last {@code >} for one or
   *     more (the default: all topics of the journal)
   * @return this builder
   */
  DurableBuilder filter(String filter);

  /**
   * Sets the journal.
   *
   * @param name its name; not needed where a single journal has topics of the filter
   * @return this builder
   */
  DurableBuilder journal(String name);

  /**
   * Sets the first event. Of no meaning for a durable subscription that exists.
   *
   * @param start the start; {@link Start#NEW} by default
   * @return this builder
   */
  DurableBuilder from(Start start);

  /**
   * Sets the maximum size of the events that wait in this client; of those of a {@link #shared}
   * one, of the events that are not settled.
   *
   * @param bytes 1 KiB to 1 GiB, 1 MiB by default; one message of the bus may wait beside it
   * @return this builder
   */
  DurableBuilder bufferBytes(int bytes);

  /**
   * Begins to consume.
   *
   * @param handler handles the events, one at a time
   * @return the consumer; {@link DurableSubscription#ready} tells when the bus has accepted it
   * @throws EventBusException.IllegalTopic if the filter or a name breaks the rules
   * @throws EventBusException.Closed if the client is closed
   */
  DurableSubscription handler(DurableHandler handler);

  /**
   * Shares the events with the other consumers of the name, as a work queue does: each event is
   * given to one of them, which settles it. The events come in no order, and again if they fail.
   *
   * @return a builder with the settings so far, of which {@link WorkerBuilder#handler} begins to
   *     consume
   * @throws EventBusException.IllegalTopic if this has no name: see {@link
   *     DurableSubscriber#durable}
   */
  WorkerBuilder shared();

  /**
   * Shares the events with the other consumers of the name as {@link #shared} does, and keeps the
   * order of each key: its events are handled one at a time, by one consumer at a time. One that
   * fails comes again before the next one of its key. The key is that of the event; without one,
   * the topic.
   *
   * @return a builder with the settings so far, of which {@link WorkerBuilder#handler} begins to
   *     consume
   * @throws EventBusException.IllegalTopic if this has no name: see {@link
   *     DurableSubscriber#durable}
   */
  WorkerBuilder keyShared();
}
