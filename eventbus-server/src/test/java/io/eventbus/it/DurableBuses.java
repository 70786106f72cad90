package io.eventbus.it;

import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/** Buses of a cluster with data directories, and clients of theirs, which a test ends with. */
@Timeout(240)
abstract class DurableBuses {
  static final ObjectMapper JSON = new ObjectMapper();

  final HttpClient http = HttpClient.newHttpClient();
  final List<BusServer> buses = new ArrayList<>();
  final List<EventBusClient> clients = new ArrayList<>();
  final Path root;

  DurableBuses(Path root) {
    this.root = root;
  }

  @AfterEach
  void close() {
    clients.forEach(client -> client.close(Duration.ZERO));
    TestBus.closeAll(buses);
  }

  BusServer start(String name, String... settings) throws IOException {
    List<String> all =
        new ArrayList<>(
            List.of("listen.event-loops", "2", "cluster.leave", "0s", "balance.enabled", "false"));
    all.addAll(Arrays.asList(settings));
    BusServer bus = TestBus.startMember(root, name, all.toArray(new String[0]));
    buses.add(bus);
    return bus;
  }

  BusServer startWithData(String name, String... settings) throws IOException {
    List<String> all = new ArrayList<>(List.of("durable.directory", data(name).toString()));
    all.addAll(Arrays.asList(settings));
    return start(name, all.toArray(new String[0]));
  }

  Path data(String name) {
    return root.resolve(name + "-data");
  }

  static String joinOf(BusServer... others) {
    return String.join(",", Arrays.stream(others).map(b -> "127.0.0.1:" + b.linkPort()).toList());
  }

  /** Starts three buses as processes of their own, and adds each at once: the caller ends them. */
  void startProcesses(Map<String, BusProcess> processes) throws Exception {
    String join = "";
    for (String name : List.of("bus-a", "bus-b", "bus-c")) {
      BusProcess process =
          BusProcess.start(
              TestBus.member(
                  root,
                  name,
                  "durable.directory",
                  data(name).toString(),
                  "cluster.leave",
                  "0s",
                  "balance.enabled",
                  "false",
                  "cluster.join",
                  join));
      processes.put(name, process);
      if (join.isEmpty()) {
        join = members(process).get(0).path("address").asText();
      }
    }
  }

  void startThree() throws Exception {
    BusServer a = startWithData("bus-a");
    BusServer b = startWithData("bus-b", "cluster.join", joinOf(a));
    startWithData("bus-c", "cluster.join", joinOf(a, b));
    awaitUp(3);
  }

  HttpResponse<String> send(BusServer bus, String method, String path) throws Exception {
    return send(bus.adminPort(), method, path);
  }

  HttpResponse<String> send(int adminPort, String method, String path) throws Exception {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + adminPort + path))
            .timeout(Duration.ofSeconds(60))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  /** Waits until all buses are up, and each knows that. */
  void awaitUp(int count) throws Exception {
    for (BusServer bus : buses) {
      WatchedBus.await(() -> up(bus) == count, () -> "buses that are UP at " + bus.name());
    }
  }

  long up(BusServer bus) {
    try {
      return up(JSON.readTree(send(bus, "GET", "/api/v1/registry/members").body()).path("items"));
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Creates a journal for all topics below its name. */
  void create(BusServer bus, String name) throws Exception {
    String unused = create(bus.adminPort(), name);
  }

  /**
   * Creates a journal, and asks again while the replicas are not ready in time: on a busy machine
   * the first one takes longer than a request may. Returns the answer.
   */
  String create(int adminPort, String name) throws Exception {
    HttpResponse<String> answer;
    long end = System.nanoTime() + MINUTES.toNanos(2);
    do {
      answer = send(adminPort, "PUT", "/api/v1/journals/" + name + "?filters=" + name + ".%3E");
    } while (answer.statusCode() == 504 && System.nanoTime() < end);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  EventBusClient connect(BusServer bus) {
    EventBusClient client = EventBusClient.builder().url(bus.uri()).connect();
    clients.add(client);
    return client;
  }

  static <T> T get(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, SECONDS);
  }

  BlockingQueue<ReceivedEvent> subscribe(BusServer bus, String filter) throws Exception {
    BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
    get(connect(bus).subscribe(filter, received::add).ready());
    return received;
  }

  static ReceivedEvent next(BlockingQueue<ReceivedEvent> received) throws Exception {
    ReceivedEvent event = received.poll(60, SECONDS);
    assertThat(event).isNotNull();
    return event;
  }

  /** Publishes events whose payloads are their positions, as the only publisher. */
  static void publish(EventBusClient client, long from, long to) throws Exception {
    List<CompletableFuture<Published>> stored = new ArrayList<>();
    for (long i = from; i <= to; i++) {
      stored.add(client.publish("orders." + i % 3, "" + i).toCompletableFuture());
    }
    for (int i = 0; i < stored.size(); i++) {
      assertThat(get(stored.get(i)).position()).isEqualTo(from + i);
    }
  }

  static void expect(BlockingQueue<ReceivedEvent> received, long from, long to) throws Exception {
    for (long i = from; i <= to; i++) {
      ReceivedEvent event = next(received);
      assertThat(event.position()).isEqualTo(i);
      assertThat(event.text()).isEqualTo("" + i);
    }
  }

  static JsonNode members(BusProcess bus) throws IOException {
    return JSON.readTree(bus.admin("/api/v1/registry/members")).path("items");
  }

  static long up(BusProcess bus) {
    try {
      return up(members(bus));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  static long up(JsonNode members) {
    long up = 0;
    for (JsonNode each : members) {
      up += each.path("state").asText().equals("UP") ? 1 : 0;
    }
    return up;
  }

  interface Starting {
    BusServer run() throws Exception;
  }

  /** Checks that a bus does not start, or ends soon where it found its cluster later. */
  static void assertRefused(Starting start, String reason) throws Exception {
    BusServer bus;
    try {
      bus = start.run();
    } catch (IOException e) {
      assertThat(e).hasMessageContaining(reason);
      return;
    }
    assertThat(get(bus.failed())).contains(reason);
  }
}
