package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.DurableHandler;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import io.eventbus.client.Truncated;
import io.eventbus.loadtest.faults.clients.Recorder.OpenConsumption;
import io.eventbus.loadtest.faults.history.ConsumerLoss;
import io.eventbus.loadtest.faults.history.Consumption.Delivery;
import io.eventbus.loadtest.faults.history.Sighting;
import java.net.URI;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Consumer of a durable subscription that others consume as well: it ends in order, or as a killed
 * program does, and begins again.
 */
final class DurableConsumer extends FaultTask {
  private static final long CHECK_MILLIS = 50;
  private static final int MAX_LIFE_MILLIS = 10_000;
  private static final long END_SECONDS = 10;

  private final List<URI> urls;
  private final String subscription;
  private final String filter;
  private final Random random;
  private int lives;

  DurableConsumer(
      String name,
      String subscription,
      String filter,
      List<URI> urls,
      Recorder recorder,
      Random random) {
    super(name, recorder);
    this.subscription = subscription;
    this.filter = filter;
    this.urls = urls;
    this.random = random;
  }

  @Override
  void work() throws InterruptedException {
    OpenConsumption consumption = recorder().consumption(subscription, filter);
    FaultClient.Watch watch =
        new FaultClient.Watch() {
          @Override
          public void disconnected() {
            lost(consumption, ConsumerLoss.Kind.DISCONNECTED);
          }

          @Override
          public void ended() {
            lost(consumption, ConsumerLoss.Kind.REPLACED);
          }
        };
    try (FaultClient client = new FaultClient(name(), urls, recorder(), watch)) {
      while (!isStopped()) {
        consume(client, consumption);
      }
    }
  }

  private void lost(OpenConsumption consumption, ConsumerLoss.Kind kind) {
    consumption.lost(new ConsumerLoss(name(), kind, recorder().now()));
  }

  private void consume(FaultClient client, OpenConsumption consumption)
      throws InterruptedException {
    DurableSubscription consumer =
        client
            .get()
            .durable(subscription)
            .journal(FaultTopics.JOURNAL)
            .filter(filter)
            .from(Start.FIRST)
            .handler(new Recording(client, consumption, name() + "#" + ++lives));
    long end = System.nanoTime() + (2_000 + random.nextInt(MAX_LIFE_MILLIS)) * 1_000_000L;
    while (!isStopped()
        && System.nanoTime() - end < 0
        && !consumer.ready().toCompletableFuture().isCompletedExceptionally()) {
      pause(CHECK_MILLIS);
    }
    lost(consumption, ConsumerLoss.Kind.END);
    if (random.nextInt(3) == 0 && !isStopped()) {
      client.renew();
      return;
    }
    try {
      consumer.unsubscribe().toCompletableFuture().get(END_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // The bus is away; the next consumer begins all the same.
      client.renew();
    }
  }

  private final class Recording implements DurableHandler {
    private final FaultClient client;
    private final OpenConsumption consumption;
    private final String consumer;

    Recording(FaultClient client, OpenConsumption consumption, String consumer) {
      this.client = client;
      this.consumption = consumption;
      this.consumer = consumer;
    }

    @Override
    public void onEvent(ReceivedEvent event) {
      Sighting seen =
          new Sighting(event.position(), EventText.name(event), recorder().now(), client.where());
      consumption.delivered(new Delivery(name(), client.bus(), consumer, seen));
    }

    @Override
    public void onTruncated(Truncated truncated) {
      consumption.cut(Replayer.cut(truncated));
    }
  }
}
