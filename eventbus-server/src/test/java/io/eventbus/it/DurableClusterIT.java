package io.eventbus.it;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
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
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Durable topics of a cluster, whose buses all have a replica of the journals. */
@Timeout(240)
class DurableClusterIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<BusServer> buses = new ArrayList<>();
  private final List<EventBusClient> clients = new ArrayList<>();
  private final Path root;

  DurableClusterIT(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void close() {
    clients.forEach(client -> client.close(Duration.ZERO));
    TestBus.closeAll(buses);
  }

  private BusServer start(String name, String... settings) throws IOException {
    List<String> all =
        new ArrayList<>(
            List.of("listen.event-loops", "2", "cluster.leave", "0s", "balance.enabled", "false"));
    all.addAll(Arrays.asList(settings));
    BusServer bus = TestBus.startMember(root, name, all.toArray(new String[0]));
    buses.add(bus);
    return bus;
  }

  private BusServer startWithData(String name, String... settings) throws IOException {
    List<String> all = new ArrayList<>(List.of("durable.directory", data(name).toString()));
    all.addAll(Arrays.asList(settings));
    return start(name, all.toArray(new String[0]));
  }

  private Path data(String name) {
    return root.resolve(name + "-data");
  }

  private static String joinOf(BusServer... others) {
    return String.join(",", Arrays.stream(others).map(b -> "127.0.0.1:" + b.linkPort()).toList());
  }

  private void startThree() throws Exception {
    BusServer a = startWithData("bus-a");
    BusServer b = startWithData("bus-b", "cluster.join", joinOf(a));
    startWithData("bus-c", "cluster.join", joinOf(a, b));
    awaitUp(3);
  }

  private HttpResponse<String> send(BusServer bus, String method, String path) throws Exception {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bus.adminPort() + path))
            .timeout(Duration.ofSeconds(60))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  /** Waits until all buses are up, and each knows that. */
  private void awaitUp(int count) throws Exception {
    for (BusServer bus : buses) {
      WatchedBus.await(() -> up(bus) == count, () -> "buses that are UP at " + bus.name());
    }
  }

  private long up(BusServer bus) {
    try {
      JsonNode registry = JSON.readTree(send(bus, "GET", "/api/v1/registry/members").body());
      long up = 0;
      for (JsonNode each : registry.path("items")) {
        up += each.path("state").asText().equals("UP") ? 1 : 0;
      }
      return up;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Creates a journal for all topics below its name. */
  private void create(BusServer bus, String name) throws Exception {
    HttpResponse<String> answer =
        send(bus, "PUT", "/api/v1/journals/" + name + "?filters=" + name + ".%3E");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
  }

  private EventBusClient connect(BusServer bus) {
    EventBusClient client = EventBusClient.builder().url(bus.uri()).connect();
    clients.add(client);
    return client;
  }

  private static <T> T get(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, SECONDS);
  }

  private BlockingQueue<ReceivedEvent> subscribe(BusServer bus, String filter) throws Exception {
    BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
    get(connect(bus).subscribe(filter, received::add).ready());
    return received;
  }

  private static ReceivedEvent next(BlockingQueue<ReceivedEvent> received) throws Exception {
    ReceivedEvent event = received.poll(60, SECONDS);
    assertThat(event).isNotNull();
    return event;
  }

  @Test
  void eventsOfAllBusesAreStoredOnceAndReachSubscribersAtAllBusesInOneOrder() throws Exception {
    startThree();
    create(buses.get(1), "orders");
    List<BlockingQueue<ReceivedEvent>> received = new ArrayList<>();
    for (BusServer bus : buses) {
      received.add(subscribe(bus, "orders.>"));
    }
    Map<Long, String> stored = publish(40);
    assertThat(stored.keySet()).hasSize(240);
    for (BlockingQueue<ReceivedEvent> each : received) {
      for (Map.Entry<Long, String> expected : stored.entrySet()) {
        ReceivedEvent event = next(each);
        assertThat(event.position()).isEqualTo(expected.getKey());
        assertThat(event.text()).isEqualTo(expected.getValue());
      }
      assertThat(each).isEmpty();
    }
  }

  /** Publishes from two clients at each bus, and returns what was confirmed, by position. */
  private Map<Long, String> publish(int each) throws Exception {
    Map<String, CompletableFuture<Published>> published = new TreeMap<>();
    List<EventBusClient> publishers = new ArrayList<>();
    for (BusServer bus : buses) {
      publishers.add(connect(bus));
      publishers.add(connect(bus));
    }
    for (int i = 0; i < each; i++) {
      for (int p = 0; p < publishers.size(); p++) {
        String text = "event " + i + " of " + p;
        published.put(text, publishers.get(p).publish("orders." + p, text).toCompletableFuture());
      }
    }
    Map<Long, String> stored = new TreeMap<>();
    for (Map.Entry<String, CompletableFuture<Published>> one : published.entrySet()) {
      stored.put(get(one.getValue()).position(), one.getKey());
    }
    return stored;
  }

  @Test
  void theFirstJournalIsRefusedWhileABusHasNoDataDirectory() throws Exception {
    BusServer a = startWithData("bus-a");
    start("bus-b", "cluster.join", joinOf(a));
    awaitUp(2);
    HttpResponse<String> answer = send(a, "PUT", "/api/v1/journals/orders?filters=orders.%3E");
    assertThat(answer.statusCode()).isEqualTo(409);
    assertThat(answer.body())
        .contains("bus-b has no data directory (expected: with the first journal every bus");
    assertThat(send(a, "GET", "/api/v1/journals").body()).contains("\"items\":[]");
  }

  @Test
  void aFurtherBusIsRefusedByAClusterWithJournals() throws Exception {
    BusServer a = startWithData("bus-a");
    awaitUp(1);
    create(a, "orders");
    assertThat(get(connect(a).publish("orders.1", "x")).position()).isEqualTo(1);
    assertRefused(() -> start("bus-b", "cluster.join", joinOf(a)), "durable.directory: none");
    assertRefused(
        () -> startWithData("bus-c", "cluster.join", joinOf(a)),
        "(expected: bus-c among them; a further bus cannot join");
  }

  private interface Start {
    BusServer run() throws Exception;
  }

  /** Checks that a bus does not start, or ends soon where it found its cluster later. */
  private static void assertRefused(Start start, String reason) throws Exception {
    BusServer bus;
    try {
      bus = start.run();
    } catch (IOException e) {
      assertThat(e).hasMessageContaining(reason);
      return;
    }
    assertThat(get(bus.failed())).contains(reason);
  }

  @Test
  void aDirectoryOfAnotherKindOrBusIsRefused() throws Exception {
    BusServer a = startWithData("bus-a");
    a.close();
    buses.remove(a);
    assertThatThrownBy(() -> startWithData("bus-x", "durable.directory", data("bus-a").toString()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("the directory of bus bus-a (expected: bus bus-x)");
    BusServer alone = TestBus.start("durable.directory", data("alone").toString());
    alone.close();
    assertThatThrownBy(() -> startWithData("alone"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("bus that was in no cluster");
    assertThatThrownBy(() -> TestBus.start("durable.directory", data("bus-a").toString()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("of bus bus-a in a cluster (expected: ");
  }
}
