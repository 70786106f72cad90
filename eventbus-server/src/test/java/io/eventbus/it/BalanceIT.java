package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Gap;
import io.eventbus.client.SendResult;
import io.eventbus.protocol.TypeCode;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two buses of a cluster that move clients to each other; each client here has topics of its own.
 * Operators' requests share one cluster: nothing of them stays.
 */
@Timeout(180)
class BalanceIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<BusServer> SHARED = new ArrayList<>();

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<BusServer> buses = new ArrayList<>();
  private final List<Client> clients = new ArrayList<>();
  private final Path root;

  BalanceIT(@TempDir Path root) {
    this.root = root;
  }

  @BeforeAll
  static void startShared(@TempDir Path root) throws IOException {
    SHARED.addAll(pair(root));
  }

  @AfterEach
  void close() {
    clients.forEach(Client::close);
    TestBus.closeAll(buses);
  }

  @AfterAll
  static void closeShared() {
    TestBus.closeAll(SHARED);
    SHARED.clear();
  }

  private static BusServer start(Path root, String name, String... settings) throws IOException {
    // Compiling makes a young process busy.
    List<String> all =
        new ArrayList<>(
            List.of(
                "listen.event-loops",
                "1",
                "cluster.leave",
                "0s",
                "balance.drain-timeout",
                "20s",
                "balance.enabled",
                "false"));
    all.addAll(Arrays.asList(settings));
    return TestBus.startMember(root, name, all.toArray(new String[0]));
  }

  /** Client that publishes to itself all the time, and checks the events. */
  private static final class Client implements ConnectionListener {
    final BlockingQueue<URI> moved = new LinkedBlockingQueue<>();
    final BlockingQueue<String> faults = new LinkedBlockingQueue<>();
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong got = new AtomicLong();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final EventBusClient client;
    private final Thread publisher;

    Client(BusServer bus, String topic, long pauseNanos) throws Exception {
      client = EventBusClient.builder().url(bus.uri()).name(topic).listener(this).connect();
      client
          .subscribe(
              topic,
              event -> {
                long expected = got.incrementAndGet();
                if (event.sequence() != expected) {
                  faults.add(event.sequence() + " (expected: " + expected + ")");
                  got.set(event.sequence());
                }
              })
          .ready()
          .toCompletableFuture()
          .get(60, TimeUnit.SECONDS);
      publisher =
          new Thread(
              () -> {
                while (!stop.get()) {
                  if (client.send(topic, Event.of("x")) == SendResult.ACCEPTED) {
                    sent.incrementAndGet();
                  }
                  LockSupport.parkNanos(pauseNanos);
                }
              });
      publisher.start();
    }

    @Override
    public void busChanged(ConnectionInfo before, ConnectionInfo now) {
      moved.add(now.url());
    }

    @Override
    public void gap(Gap gap) {
      faults.add(gap.toString());
    }

    @Override
    public void disconnected(int code, String reason, boolean willReconnect) {
      faults.add("disconnected " + code + " " + reason);
    }

    void assertMovedTo(BusServer bus) throws InterruptedException {
      assertThat(moved.poll(60, TimeUnit.SECONDS)).isEqualTo(bus.uri());
    }

    void assertNothingWasLost() throws InterruptedException {
      stop.set(true);
      publisher.join(10_000);
      client.flush(Duration.ofSeconds(10));
      WatchedBus.await(() -> got.get() == sent.get(), () -> got + " of " + sent + " " + faults);
      assertThat(faults).isEmpty();
      assertThat(client.counters().missing()).isZero();
    }

    void close() {
      stop.set(true);
      client.close(Duration.ZERO);
    }
  }

  private Client client(BusServer bus, String topic) throws Exception {
    return client(bus, topic, 100_000);
  }

  private Client client(BusServer bus, String topic, long pauseNanos) throws Exception {
    Client client = new Client(bus, topic, pauseNanos);
    clients.add(client);
    return client;
  }

  private HttpResponse<String> send(BusServer bus, String method, String path) {
    try {
      return http.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bus.adminPort() + path))
              .timeout(Duration.ofSeconds(10))
              .method(method, HttpRequest.BodyPublishers.noBody())
              .build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private JsonNode get(BusServer bus, String path) {
    try {
      return JSON.readTree(send(bus, "GET", path).body());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private JsonNode load(BusServer by, String of) {
    for (JsonNode bus : get(by, "/api/v1/buses").path("items")) {
      if (bus.path("bus").asText().equals(of)) {
        return bus;
      }
    }
    return JSON.createObjectNode();
  }

  private static List<BusServer> pair(Path root, String... settings) throws IOException {
    BusServer a = start(root, "bus-a", settings);
    List<String> more = new ArrayList<>(Arrays.asList(settings));
    more.addAll(List.of("cluster.join", "127.0.0.1:" + a.linkPort()));
    try {
      return List.of(a, start(root, "bus-b", more.toArray(new String[0])));
    } catch (IOException | RuntimeException e) {
      a.close();
      throw e;
    }
  }

  private void startPair(String... settings) throws IOException {
    buses.addAll(pair(root, settings));
    awaitLoads(buses);
  }

  /** Waits until each knows the load of both. */
  private void awaitLoads(List<BusServer> cluster) {
    for (BusServer by : cluster) {
      for (String of : List.of("bus-a", "bus-b")) {
        WatchedBus.await(
            () -> load(by, of).path("clients").asLong(-1) >= 0,
            () -> get(by, "/api/v1/buses").toString());
      }
    }
  }

  @Test
  void aDrainedBusHasNoClientsAndTakesThemAgain() throws Exception {
    awaitLoads(SHARED);
    BusServer a = SHARED.get(0);
    BusServer b = SHARED.get(1);
    long movedBefore = get(a, "/api/v1/balance").path("moved").asLong();
    List<Client> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      all.add(client(a, "own." + i, 1_000_000));
    }
    // Told to the other bus, which passes it on.
    assertThat(send(b, "PUT", "/api/v1/drains/bus-a").statusCode()).isEqualTo(202);
    for (Client client : all) {
      client.assertMovedTo(b);
    }
    WatchedBus.await(
        () -> {
          JsonNode told = load(b, "bus-a");
          return told.path("draining").asBoolean() && told.path("clients").asLong() == 0;
        },
        () -> get(b, "/api/v1/buses").toString());
    WatchedBus.await(
        () -> load(b, "bus-a").path("state").asText().equals("DRAINING"),
        () -> get(b, "/api/v1/buses").toString());
    assertThat(send(a, "GET", "/readyz").statusCode()).isEqualTo(503);
    assertThat(get(a, "/api/v1/balance").path("moved").asLong() - movedBefore).isEqualTo(5);
    assertThat(send(a, "DELETE", "/api/v1/drains/bus-a").statusCode()).isEqualTo(202);
    WatchedBus.await(
        () -> send(a, "GET", "/readyz").statusCode() == 200, () -> get(a, "/readyz").toString());
    WatchedBus.await(
        () -> load(b, "bus-a").path("state").asText().equals("UP"),
        () -> get(b, "/api/v1/buses").toString());
    for (Client client : all) {
      client.assertNothingWasLost();
    }
    assertThat(send(a, "PUT", "/api/v1/drains/bus-c").statusCode()).isEqualTo(404);
  }

  @Test
  void aBusThatStopsSendsItsClientsToTheOtherFirst() throws Exception {
    startPair();
    BusServer a = buses.get(0);
    BusServer b = buses.get(1);
    Client client = client(a, "own");
    a.close();
    client.assertMovedTo(b);
    client.assertNothingWasLost();
  }

  @Test
  void anOperatorMovesAClient() throws Exception {
    awaitLoads(SHARED);
    BusServer a = SHARED.get(0);
    BusServer b = SHARED.get(1);
    long movedBefore = get(a, "/api/v1/balance").path("moved").asLong();
    Client client = client(a, "operated");
    long connection = connection(a, "operated");
    assertThat(send(a, "PUT", "/api/v1/moves/" + connection + "?to=bus-c").statusCode())
        .isEqualTo(404);
    HttpResponse<String> moved = send(a, "PUT", "/api/v1/moves/" + connection + "?to=bus-b");
    assertThat(moved.statusCode()).as(moved.body()).isEqualTo(202);
    client.assertMovedTo(b);
    client.assertNothingWasLost();
    WatchedBus.await(
        () -> get(a, "/api/v1/balance").path("moved").asLong() == movedBefore + 1,
        () -> get(a, "/api/v1/balance").toString());
    assertThat(send(a, "PUT", "/api/v1/moves/999999").statusCode()).isEqualTo(404);
  }

  private long connection(BusServer bus, String client) {
    for (JsonNode connection : get(bus, "/api/v1/connections").path("items")) {
      if (connection.path("client").asText().equals(client)) {
        return connection.path("id").asLong();
      }
    }
    throw new AssertionError(client + " is not at " + bus.name());
  }

  /**
   * Its time begins when it has read the request: a client that has read nothing yet is not closed.
   */
  @Test
  void aClientThatIgnoresItsMoveIsClosed() throws Exception {
    startPair("balance.deadline", "300ms");
    BusServer a = buses.get(0);
    try (RawClient behind = RawClient.connected(a.uri());
        RawClient ignorant = RawClient.connected(a.uri())) {
      behind.subscribe(1, "t");
      ignorant.subscribe(1, "t");
      for (long connection : connections(a, "raw")) {
        assertThat(send(a, "PUT", "/api/v1/moves/" + connection).statusCode()).isEqualTo(202);
      }
      assertThat(ignorant.awaitClose()).isEqualTo(4000);
      assertThat(connections(a, "raw")).hasSize(1);
      behind.send(RawClient.publish("t", 1, false, "1", "2"));
      behind.expect(TypeCode.CHANGE_BUS);
      assertThat(behind.expectDeliver().payloads()).containsExactly("1", "2");
      assertThat(behind.awaitClose()).isEqualTo(4000);
      assertThat(behind.closeReason).contains("go on at " + buses.get(1).uri());
      WatchedBus.await(
          () -> get(a, "/api/v1/balance").path("expired").asLong() == 2,
          () -> get(a, "/api/v1/balance").toString());
    }
  }

  private List<Long> connections(BusServer bus, String client) {
    List<Long> found = new ArrayList<>();
    for (JsonNode connection : get(bus, "/api/v1/connections").path("items")) {
      if (connection.path("client").asText().equals(client)) {
        found.add(connection.path("id").asLong());
      }
    }
    return found;
  }

  @Test
  void anOverloadedBusGetsRidOfClients() throws Exception {
    startPair(
        "balance.enabled",
        "true",
        "balance.high-percent",
        "60",
        "balance.low-percent",
        "50",
        "balance.overload-after",
        "500ms",
        "listen.max-connections",
        "10");
    BusServer a = buses.get(0);
    BusServer b = buses.get(1);
    List<Client> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      all.add(client(a, "own." + i, 10_000_000));
    }
    WatchedBus.await(
        () -> get(a, "/api/v1/balance").path("moved").asLong() >= 3,
        () -> get(a, "/api/v1/balance").toString());
    WatchedBus.await(
        () ->
            get(a, "/api/v1/balance").path("load").asDouble() < 0.6
                && load(b, "bus-b").path("clients").asLong() >= 3,
        () -> get(a, "/api/v1/buses").toString());
    for (Client client : all) {
      client.assertNothingWasLost();
      assertThat(client.moved).as("at most one move in a minute").hasSizeLessThanOrEqualTo(1);
    }
  }

  @Test
  void aBusThatServesAloneStopsAtOnceAndCannotBeDrained() throws Exception {
    BusServer alone = TestBus.start("bus.name", "alone");
    buses.add(alone);
    assertThat(send(alone, "PUT", "/api/v1/drains/alone").statusCode()).isEqualTo(409);
    CompletableFuture<Integer> closedWith = new CompletableFuture<>();
    EventBusClient client =
        EventBusClient.builder()
            .url(alone.uri())
            .listener(
                new ConnectionListener() {
                  @Override
                  public void disconnected(int code, String reason, boolean willReconnect) {
                    closedWith.complete(code);
                  }
                })
            .connect();
    try {
      assertThat(client.connection()).isPresent();
      alone.close();
      assertThat(closedWith.get(60, TimeUnit.SECONDS)).isEqualTo(1001);
    } finally {
      client.close(Duration.ZERO);
    }
  }
}
