package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.EventBusClient;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.server.BusServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads that many clients of one JVM share, against a real bus. */
@Timeout(180)
class SdkThreadsIT {
  private static final Pattern SHARED =
      Pattern.compile("eventbus-(conductor|sender|handler|io|connect)");
  private static final int CLIENTS = 200;

  private final List<EventBusClient> clients = new ArrayList<>();
  private final CountDownLatch gate = new CountDownLatch(1);

  @AfterEach
  void close() {
    gate.countDown();
    // The bus is gone already: there is nothing to drain to.
    clients.forEach(client -> client.close(Duration.ZERO));
  }

  private EventBusClient client(BusServer bus) {
    EventBusClient client = EventBusClient.builder().url(bus.uri()).connect();
    clients.add(client);
    return client;
  }

  private static void get(CompletionStage<?> stage) throws Exception {
    stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static List<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> SHARED.matcher(thread.getName()).lookingAt())
        .toList();
  }

  @Test
  void manyClientsShareFewThreadsAndLeaveNone() throws Exception {
    try (BusServer bus = TestBus.start()) {
      CountDownLatch received = new CountDownLatch(CLIENTS * CLIENTS);
      List<CompletionStage<EventBusClient>> connecting = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        connecting.add(EventBusClient.builder().url(bus.uri()).connectAsync());
      }
      for (CompletionStage<EventBusClient> stage : connecting) {
        clients.add(stage.toCompletableFuture().get(60, TimeUnit.SECONDS));
      }
      for (EventBusClient client : clients) {
        get(client.subscribe("all", event -> received.countDown()).ready());
      }
      for (EventBusClient client : clients) {
        client.send("all", "hello");
      }
      assertThat(received.await(60, TimeUnit.SECONDS)).isTrue();
      // Threads: one conductor, four that send, four that read, sixteen that look up names, and
      // handlers.
      int max = 25 + 4 * Math.max(2, Runtime.getRuntime().availableProcessors());
      List<Thread> threads = threads();
      assertThat(threads).hasSizeLessThan(max);
      clients.forEach(client -> client.close(Duration.ofSeconds(10)));
      for (Thread thread : threads) {
        thread.join(30_000);
        assertThat(thread.isAlive()).as(thread.getName()).isFalse();
      }
    }
  }

  @Test
  void aHandlerThatBlocksHoldsUpNobodyElse() throws Exception {
    try (BusServer bus = TestBus.start()) {
      EventBusClient blocked = client(bus);
      int blocking = 8 * Math.max(2, Runtime.getRuntime().availableProcessors());
      CountDownLatch stuck = new CountDownLatch(blocking);
      for (int i = 0; i < blocking; i++) {
        get(
            blocked
                .subscribe(
                    "slow",
                    SubscribeOptions.DEFAULT.withBufferBytes(1024),
                    event -> {
                      stuck.countDown();
                      gate.await();
                    })
                .ready());
      }
      EventBusClient other = client(bus);
      CountDownLatch through = new CountDownLatch(1000);
      get(other.subscribe("fast", event -> through.countDown()).ready());
      EventBusClient publisher = client(bus);
      // More than the queues take, so that the blocked client's connection is not read any more.
      for (int i = 0; i < 10; i++) {
        publisher.send("slow", new byte[1000]);
      }
      assertThat(stuck.await(60, TimeUnit.SECONDS)).isTrue();
      for (int i = 0; i < 1000; i++) {
        publisher.send("fast", "x");
      }
      assertThat(through.await(60, TimeUnit.SECONDS)).isTrue();
      // Before the bus stops, which would wait for the blocked client.
      gate.countDown();
    }
  }
}
