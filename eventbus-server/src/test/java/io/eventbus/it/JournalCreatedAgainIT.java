package io.eventbus.it;

import static io.eventbus.it.DurableBuses.next;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.ConnectionListener;
import io.eventbus.client.DurableBuilder;
import io.eventbus.client.DurableHandler;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import io.eventbus.client.Truncated;
import io.eventbus.server.BusServer;
import io.eventbus.testing.TestPorts;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Consumers that are away while their journal is deleted, and created again under its name. */
@Timeout(240)
class JournalCreatedAgainIT {
  private final List<EventBusClient> clients = new ArrayList<>();
  private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
  private Path files;
  private int port;
  private BusServer bus;

  @BeforeEach
  void start(@TempDir Path directory) throws Exception {
    files = directory;
    port = TestPorts.find();
    bus = open(files.resolve("data"), port);
    create(bus);
  }

  @AfterEach
  void end() {
    clients.forEach(client -> client.close(Duration.ZERO));
    bus.close();
  }

  private static BusServer open(Path data, int port) throws Exception {
    return TestBus.start(
        "listen.port",
        Integer.toString(port),
        "timeouts.shutdown",
        "1s",
        "durable.directory",
        data.toString());
  }

  private static void admin(BusServer of, String method, String path) throws Exception {
    HttpResponse<String> answer =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(
                        URI.create(
                            "http://127.0.0.1:"
                                + of.adminPort()
                                + "/api/v1/journals/orders"
                                + path))
                    .timeout(Duration.ofSeconds(60))
                    .method(method, HttpRequest.BodyPublishers.noBody())
                    .build(),
                HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isBetween(200, 299);
  }

  private static void create(BusServer at) throws Exception {
    admin(at, "PUT", "?filters=orders.%3E");
  }

  private static void publish(BusServer to, String name, int events) throws Exception {
    try (EventBusClient client = EventBusClient.builder().url(to.uri()).connect()) {
      for (int i = 1; i <= events; i++) {
        client.publish("orders.1", name + " " + i).toCompletableFuture().get(60, SECONDS);
      }
    }
  }

  /** Consumer that takes note of what it gets, and stops at an event until it may go on. */
  private static final class Consumer implements DurableHandler {
    final BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
    final BlockingQueue<Truncated> missing = new LinkedBlockingQueue<>();
    final CountDownLatch goOn = new CountDownLatch(1);
    private final String stop;

    Consumer(String stop) {
      this.stop = stop;
    }

    @Override
    public void onEvent(ReceivedEvent event) throws Exception {
      received.add(event);
      if (event.text().equals(stop)) {
        goOn.await();
      }
    }

    @Override
    public void onTruncated(Truncated truncated) {
      missing.add(truncated);
    }

    void expect(String name, int from, int to) throws Exception {
      for (int i = from; i <= to; i++) {
        ReceivedEvent event = next(received);
        assertThat(event.text()).isEqualTo(name + " " + i);
        assertThat(event.position()).isEqualTo(i);
      }
    }
  }

  private EventBusClient connect() {
    EventBusClient client =
        EventBusClient.builder()
            .url(bus.uri())
            .listener(
                new ConnectionListener() {
                  @Override
                  public void truncated(Truncated truncated) {
                    told.add(truncated.filter());
                  }
                })
            .connect();
    clients.add(client);
    return client;
  }

  private static DurableSubscription begin(DurableBuilder builder, Consumer consumer)
      throws Exception {
    DurableSubscription begun = builder.from(Start.FIRST).handler(consumer);
    return begun.ready().toCompletableFuture().get(60, SECONDS);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nothingOfTheOldOneCountsInTheNewOne(boolean lostFiles) throws Exception {
    publish(bus, "old", 20);
    Consumer ofReplay = new Consumer("");
    Consumer ofBilling = new Consumer("old 15");
    DurableSubscription replay = begin(connect().replay().filter("orders.>"), ofReplay);
    EventBusClient away = connect();
    DurableSubscription billing = begin(away.durable("billing"), ofBilling);
    ofReplay.expect("old", 1, 20);
    ofBilling.expect("old", 1, 15);
    while (replay.position() < 20) {
      // The handler has the last event still.
      Thread.onSpinWait();
    }
    bus.close();

    // Where the clients do not find it.
    BusServer hidden = open(files.resolve(lostFiles ? "new" : "data"), 0);
    if (!lostFiles) {
      admin(hidden, "DELETE", "");
    }
    create(hidden);
    publish(hidden, "new", 30);
    hidden.close();
    bus = open(files.resolve(lostFiles ? "new" : "data"), port);

    ofReplay.expect("new", 1, 30);
    assertThat(ofReplay.missing)
        .containsExactly(new Truncated("orders.>", 21, 21, Truncated.Reason.DELETED));
    // Both have been told, so the event that the handler has is of the old one.
    assertThat(List.of("" + told.poll(60, SECONDS), "" + told.poll(60, SECONDS)))
        .containsExactlyInAnyOrder("orders.>", ">");
    ofBilling.goOn.countDown();
    ofBilling.expect("new", 1, 30);
    assertThat(ofBilling.missing)
        .containsExactly(new Truncated(">", 15, 20, Truncated.Reason.DELETED));
    assertThat(ofReplay.received).isEmpty();
    assertThat(ofBilling.received).isEmpty();
    billing.unsubscribe().toCompletableFuture().get(60, SECONDS);
    assertThat(billing.position()).isEqualTo(30);
    Consumer next = new Consumer("");
    begin(connect().durable("billing"), next);
    publish(bus, "other", 1);
    assertThat(next(next.received).position()).isEqualTo(31);
    assertThat(next.missing).isEmpty();
    assertThat(told).isEmpty();
  }
}
