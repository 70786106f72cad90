package io.eventbus.loadtest.driver.eventbus;

import io.eventbus.client.DurableBuilder;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Start;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverJournal;
import java.time.Duration;

/** Journal of a bus: a client that publishes to one of its topics, and one that reads it. */
final class BusJournal implements DriverJournal {
  /** Name of the journal with all topics of the load test. */
  static final String NAME = "load";

  private final EventBusClient publisher;
  private final EventBusClient reader;
  private final String topic;

  BusJournal(EventBusClient publisher, EventBusClient reader, String topic) {
    this.publisher = publisher;
    this.reader = reader;
    this.topic = topic;
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
