package io.eventbus.it;

import static io.eventbus.it.DurableBuses.expect;
import static io.eventbus.it.DurableBuses.next;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.DurableHandler;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import io.eventbus.client.Truncated;
import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.samples.TestKey;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Consumers of stored events: the Java SDK, sockets, a bus, and its files. */
@Timeout(240)
class DurableConsumersIT {
  private Path directory;
  private final List<EventBusClient> clients = new ArrayList<>();
  private BusServer bus;

  @BeforeEach
  void start(@TempDir Path files) throws Exception {
    directory = files;
    bus = open();
    admin("PUT", "/orders?filters=orders.%3E");
  }

  private BusServer open() throws Exception {
    return BusServer.start(
        ServerConfig.of(
            Map.of(
                "listen.host",
                "127.0.0.1",
                "listen.port",
                "0",
                "listen.event-loops",
                "2",
                "admin.port",
                "0",
                "timeouts.shutdown",
                "1s",
                "durable.directory",
                directory.resolve("data").toString(),
                "auth.resume-key-file",
                TestKey.FILE.toString())));
  }

  @AfterEach
  void end() {
    clients.forEach(client -> client.close(Duration.ZERO));
    bus.close();
  }

  private void admin(String method, String path) throws Exception {
    HttpResponse<String> answer =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(
                        URI.create(
                            "http://127.0.0.1:" + bus.adminPort() + "/api/v1/journals" + path))
                    .timeout(Duration.ofSeconds(60))
                    .method(method, HttpRequest.BodyPublishers.noBody())
                    .build(),
                HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isBetween(200, 299);
  }

  private EventBusClient connect() {
    EventBusClient client = EventBusClient.builder().url(bus.uri()).connect();
    clients.add(client);
    return client;
  }

  /** Publishes events whose payloads are their positions, as the only publisher. */
  private void publish(long from, long to) throws Exception {
    EventBusClient client = connect();
    List<CompletableFuture<Published>> stored = new ArrayList<>();
    for (long i = from; i <= to; i++) {
      stored.add(client.publish("orders." + i % 7, "" + i).toCompletableFuture());
    }
    for (CompletableFuture<Published> each : stored) {
      Published published = each.get(60, SECONDS);
      assertThat(published.repeated()).isFalse();
    }
  }

  private static DurableSubscription ready(DurableSubscription begun) throws Exception {
    return begun.ready().toCompletableFuture().get(60, SECONDS);
  }

  @Test
  void eventsOfTheTimeAwayComeOnceAndInOrderAlsoAfterARestart() throws Exception {
    BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
    DurableSubscription first =
        ready(
            connect()
                .durable("billing")
                .filter("orders.>")
                .from(Start.FIRST)
                .handler(received::add));
    publish(1, 500);
    expect(received, 1, 500);
    first.unsubscribe().toCompletableFuture().get(60, SECONDS);
    publish(501, 900);
    assertThat(received).isEmpty();
    DurableSubscription second =
        ready(connect().durable("billing").filter("orders.>").handler(received::add));
    expect(received, 501, 900);
    second.unsubscribe().toCompletableFuture().get(60, SECONDS);
    end();
    clients.clear();
    bus = open();
    publish(901, 1_000);
    DurableSubscription third =
        ready(connect().durable("billing").filter("orders.>").handler(received::add));
    expect(received, 901, 1_000);
    publish(1_001, 1_100);
    expect(received, 1_001, 1_100);
    assertThat(third.counters().duplicates()).isZero();
    assertThat(received).isEmpty();
  }

  @Test
  void theSecondConsumerTakesOver() throws Exception {
    BlockingQueue<ReceivedEvent> ofFirst = new LinkedBlockingQueue<>();
    BlockingQueue<ReceivedEvent> ofSecond = new LinkedBlockingQueue<>();
    EventBusClient first = connect();
    ready(first.durable("billing").filter("orders.>").from(Start.FIRST).handler(ofFirst::add));
    ready(connect().durable("billing").filter("orders.>").handler(ofSecond::add));
    publish(1, 300);
    expect(ofFirst, 1, 300);
    assertThat(ofSecond).isEmpty();
    first.close();
    publish(301, 400);
    expect(ofSecond, 301, 400);
    assertThat(ofSecond).isEmpty();
  }

  @Test
  void aReplayIsToldWhatRetentionHasRemoved() throws Exception {
    publish(1, 3_000);
    admin("PUT", "/orders/trim?up-to=1000");
    BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
    BlockingQueue<Truncated> missing = new LinkedBlockingQueue<>();
    ready(
        connect()
            .replay()
            .filter("orders.>")
            .from(Start.position(1))
            .handler(
                new DurableHandler() {
                  @Override
                  public void onEvent(ReceivedEvent event) {
                    received.add(event);
                  }

                  @Override
                  public void onTruncated(Truncated truncated) {
                    missing.add(truncated);
                  }
                }));
    Truncated truncated = missing.poll(60, SECONDS);
    assertThat(truncated).isNotNull();
    assertThat(truncated.from()).isEqualTo(1);
    assertThat(truncated.to()).isBetween(1L, 1_000L);
    assertThat(truncated.reason()).isEqualTo(Truncated.Reason.RETENTION);
    expect(received, truncated.to() + 1, 3_000);
    publish(3_001, 3_100);
    expect(received, 3_001, 3_100);
    assertThat(missing).isEmpty();
  }

  @Test
  void aSlowConsumerHoldsUpNobody() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    BlockingQueue<ReceivedEvent> ofSlow = new LinkedBlockingQueue<>();
    BlockingQueue<ReceivedEvent> ofFast = new LinkedBlockingQueue<>();
    BlockingQueue<ReceivedEvent> live = new LinkedBlockingQueue<>();
    EventBusClient client = connect();
    ready(
        client
            .durable("slow")
            .filter("orders.>")
            .bufferBytes(1024)
            .handler(
                event -> {
                  goOn.await();
                  ofSlow.add(event);
                }));
    ready(client.replay().filter("orders.>").from(Start.FIRST).handler(ofFast::add));
    client.subscribe("orders.>", live::add).ready().toCompletableFuture().get(60, SECONDS);
    publish(1, 3_000);
    expect(ofFast, 1, 3_000);
    expect(live, 1, 3_000);
    assertThat(ofSlow).isEmpty();
    goOn.countDown();
    expect(ofSlow, 1, 3_000);
  }

  @Test
  void latestValuesComeFirstAndThenEveryChangeWhileOthersPublish() throws Exception {
    int topics = 20;
    int rounds = 200;
    admin("PUT", "/prices?filters=prices.%3E&keep=latest");
    EventBusClient publisher = connect();
    BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
    CompletableFuture<Published> last = new CompletableFuture<>();
    for (int i = 1; i <= rounds; i++) {
      for (int topic = 0; topic < topics; topic++) {
        last = publisher.publish("prices." + topic, "" + i).toCompletableFuture();
      }
      if (i == rounds / 2) {
        last.get(60, SECONDS);
        connect().latest("prices.>", received::add);
      }
    }
    long end = last.get(60, SECONDS).position();
    Map<String, Integer> values = new HashMap<>();
    long before = 0;
    while (before < end) {
      ReceivedEvent event = next(received);
      assertThat(event.position()).isGreaterThan(before);
      before = event.position();
      int value = Integer.parseInt(event.text());
      Integer known = values.put(event.topic(), value);
      assertThat(value).isGreaterThan(known == null ? rounds / 2 - 1 : known);
    }
    assertThat(values)
        .hasSize(topics)
        .allSatisfy((topic, value) -> assertThat(value).isEqualTo(rounds));
  }
}
