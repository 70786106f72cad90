package io.eventbus.client;

import java.time.Duration;

/**
 * Builder of a consumer that shares the events of a durable subscription with others. For one
 * thread.
 */
public interface WorkerBuilder {
  /**
   * Sets how many events this consumer may have that are not settled. Fewer spread the events
   * better, more keep a fast handler busy.
   *
   * @param events 1 to 1,024, 256 by default
   * @return this builder
   */
  WorkerBuilder maxUnsettled(int events);

  /**
   * Sets the time after which the bus takes an event that is not settled for failed, and gives it
   * to another consumer. It begins when the handler gets the event. An event that waits in this
   * client for half of it goes back to the bus.
   *
   * @param timeout 1 second to 12 hours, 30 seconds by default
   * @return this builder
   */
  WorkerBuilder ackTimeout(Duration timeout);

  /**
   * Sets how often an event may fail: by an exception, {@link WorkDelivery#retry}, the ack timeout
   * or the loss of the consumer. Then it becomes a dead letter.
   *
   * @param deliveries 1 to 1,000, 10 by default
   * @return this builder
   */
  WorkerBuilder maxAttempts(int deliveries);

  /**
   * Sets how many events are handled at once.
   *
   * @param handlers 1 to 1,000, 1 by default
   * @return this builder
   */
  WorkerBuilder concurrency(int handlers);

  /**
   * Begins to consume.
   *
   * @param handler handles the events
   * @return the consumer; {@link Worker#ready} tells when the bus has accepted it
   * @throws EventBusException.IllegalTopic if the filter or a name breaks the rules
   * @throws EventBusException.Closed if the client is closed
   */
  Worker handler(WorkHandler handler);
}
