package io.eventbus.loadtest.driver.eventbus;

import io.eventbus.client.DurableBuilder;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Start;
import io.eventbus.client.Worker;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverJournal;
import java.time.Duration;
import java.util.function.IntFunction;

/** Journal of a bus: a client that publishes to one of its topics, and one that reads it. */
final class BusJournal implements DriverJournal {
  /** Name of the journal with all topics of the load test. */
  static final String NAME = "load";

  private final EventBusClient publisher;
  private final EventBusClient reader;
  private final String topic;
  private final IntFunction<EventBusClient> workers;

  /**
   * Takes over two clients.
   *
   * @param workers connects the client of a worker, by its number
   */
  BusJournal(
      EventBusClient publisher,
      EventBusClient reader,
      String topic,
      IntFunction<EventBusClient> workers) {
    this.publisher = publisher;
    this.reader = reader;
    this.topic = topic;
    this.workers = workers;
  }

  @Override
  public void publish(byte[] payload, Outcome outcome) {
    try {
      var unused =
          publisher
              .publish(topic, payload)
              .whenComplete(
                  (published, why) -> outcome.ended(why == null ? published.position() : 0, why));
    } catch (EventBusException e) {
      throw new DriverException("an event to " + topic + " was not taken", e);
    }
  }

  @Override
  public Driver.Subscriber read(long from, Driver.Receiver receiver) {
    return consume(reader.replay().filter(topic).from(Start.position(from)), receiver);
  }

  @Override
  public Driver.Subscriber work(int number, Driver.Receiver receiver) {
    EventBusClient client = workers.apply(number);
    Worker worker =
        client
            .durable("work")
            .journal(NAME)
            .filter(topic)
            .from(Start.FIRST)
            .shared()
            .handler((event, delivery) -> receiver.onEvent(event.payloadBuffer()));
    EventBusSession.await(worker.ready(), "no worker of " + topic);
    return new BusWorker(worker, client);
  }

  /** Takes the events of a durable subscription from now on. */
  static Driver.Subscriber consume(
      EventBusClient client, String name, String filter, Driver.Receiver receiver) {
    return consume(client.durable(name).filter(filter).from(Start.NEW), receiver);
  }

  private static Driver.Subscriber consume(DurableBuilder builder, Driver.Receiver receiver) {
    DurableSubscription subscription =
        builder
            .journal(NAME)
            .handler(event -> receiver.onEvent(event.payloadBuffer(), event.receivedAtMicros()));
    EventBusSession.await(subscription.ready(), "no consumer of " + subscription.filter());
    return new Consumer(subscription);
  }

  @Override
  public void close() {
    publisher.close(Duration.ZERO);
    reader.close(Duration.ZERO);
  }

  private record BusWorker(Worker worker, EventBusClient client) implements Driver.Subscriber {
    @Override
    public long reportedLost() {
      return 0;
    }

    @Override
    public void close() {
      EventBusSession.await(worker.unsubscribe(), "no end of a worker");
      client.close(Duration.ZERO);
    }
  }

  private record Consumer(DurableSubscription subscription) implements Driver.Subscriber {
    @Override
    public long reportedLost() {
      return 0;
    }

    @Override
    public void close() {
      EventBusSession.await(
          subscription.unsubscribe(), "no end of the consumer of " + subscription.filter());
    }
  }
}
