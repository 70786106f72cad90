package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Published;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.client.Subscription;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Client of the SDK whose handler blocks, under BLOCK, with more events than all queues hold. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class CreditIT {
  private static final byte[] PAYLOAD = new byte[8 * 1024];
  private static final int EVENTS = 200;
  private static final int BUFFER = 128 * 1024;

  private final CountDownLatch go = new CountDownLatch(1);
  private final BlockingQueue<Long> got = new LinkedBlockingQueue<>();
  private final List<EventBusClient> clients = new ArrayList<>();
  private final WatchedBus bus;

  CreditIT() throws IOException {
    bus =
        WatchedBus.alone(
            // Between two loops there is room for all of the events, if the other one is late.
            "listen.event-loops", "1",
            "limits.payload-bytes", "64KiB",
            "limits.message-bytes", "128KiB",
            "limits.queue-bytes", "256KiB",
            // No test may go on because of it.
            "timeouts.slow-subscriber", "10m");
  }

  @AfterEach
  void close() throws Exception {
    go.countDown();
    clients.forEach(client -> client.close(Duration.ZERO));
    bus.close();
  }

  private EventBusClient client() {
    EventBusClient client = EventBusClient.builder().url(bus.uri()).connect();
    clients.add(client);
    return client;
  }

  private static <T> T get(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private Subscription subscribeBlocked(EventBusClient client) throws Exception {
    return get(
        client
            .subscribe(
                "t",
                SubscribeOptions.DEFAULT.withBufferBytes(BUFFER),
                event -> {
                  go.await();
                  got.add(event.sequence());
                })
            .ready());
  }

  private static List<CompletionStage<Published>> publishAll(EventBusClient by) {
    List<CompletionStage<Published>> confirmed = new ArrayList<>();
    for (int i = 0; i < EVENTS; i++) {
      confirmed.add(by.publish("t", Event.of(PAYLOAD)));
    }
    return confirmed;
  }

  private void awaitStoppedPublisher() {
    WatchedBus.await(
        () -> bus.metric("eventbus_publisher_waits_total") > 0,
        () -> "the bus has not stopped reading the publisher");
  }

  private void awaitAll(List<CompletionStage<Published>> confirmed) throws Exception {
    for (long sequence = 1; sequence <= EVENTS; sequence++) {
      assertThat(got.poll(60, TimeUnit.SECONDS)).isEqualTo(sequence);
    }
    for (CompletionStage<Published> stage : confirmed) {
      get(stage);
    }
    assertThat(bus.metric("eventbus_connections"))
        .as("nobody was closed")
        .isEqualTo(clients.size());
  }

  @Test
  void itsAnswersComeAndNoEventIsLost() throws Exception {
    EventBusClient client = client();
    Subscription subscription = subscribeBlocked(client);
    List<CompletionStage<Published>> confirmed = publishAll(client());
    awaitStoppedPublisher();
    long held = subscription.counters().bufferedBytes();
    assertThat(held).isBetween((long) BUFFER / 2, 2L * BUFFER + PAYLOAD.length);

    get(client.publish("p", Event.of("confirmed")));
    get(client.subscribe("u", event -> {}).ready());
    get(client.flushAsync());

    assertThat(got).isEmpty();
    go.countDown();
    awaitAll(confirmed);
    assertThat(subscription.counters().missing()).isZero();
  }

  @Test
  void mayWaitForRoomInItsOwnQueue() throws Exception {
    EventBusClient client = client();
    Subscription subscription = subscribeBlocked(client);
    List<CompletionStage<Published>> confirmed = publishAll(client);
    // Every frame of the client comes behind those that wait: also its next credit.
    awaitStoppedPublisher();
    go.countDown();
    awaitAll(confirmed);
    assertThat(subscription.counters().missing()).isZero();
  }
}
