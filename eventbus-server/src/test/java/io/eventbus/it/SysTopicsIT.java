package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.schema.ErrorCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Topics of a bus about itself, as a client of another bus sees them. */
@Timeout(120)
class SysTopicsIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final FederatedBuses cluster;
  private final BlockingQueue<JsonNode> stats = new LinkedBlockingQueue<>();
  private final BlockingQueue<JsonNode> events = new LinkedBlockingQueue<>();
  private final BlockingQueue<ReceivedEvent> others = new LinkedBlockingQueue<>();

  SysTopicsIT(@TempDir Path root) throws IOException {
    // Every bus takes the calls of a peer, however busy this machine is.
    cluster =
        FederatedBuses.start(
            root,
            2,
            "sys.interval",
            "100ms",
            "balance.enabled",
            "false",
            "balance.high-percent",
            "100",
            "balance.low-percent",
            "99");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  private static JsonNode read(ReceivedEvent event) {
    try {
      return JSON.readTree(event.payload());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for a meant entry; skipped ones are shown if none comes. */
  private static JsonNode await(BlockingQueue<JsonNode> from, Predicate<JsonNode> meant)
      throws InterruptedException {
    List<JsonNode> skipped = new ArrayList<>();
    while (true) {
      JsonNode next = from.poll(60, TimeUnit.SECONDS);
      assertThat(next).as("after %s", skipped).isNotNull();
      if (meant.test(next)) {
        return next;
      }
      skipped.add(next);
    }
  }

  private static Predicate<JsonNode> event(String bus, String type) {
    return json ->
        json.get("bus").textValue().equals(bus) && json.get("type").textValue().equals(type);
  }

  private void observe() throws Exception {
    EventBusClient observer = cluster.client(0);
    FederationIT.get(observer.subscribe(">", others::add).ready());
    FederationIT.get(
        observer.subscribe("$SYS.bus.*.events", event -> events.add(read(event))).ready());
    FederationIT.get(
        observer.subscribe("$SYS.bus.bus-b.stats", event -> stats.add(read(event))).ready());
  }

  @Test
  void aClientOfOneBusSeesTheFiguresOfAnother() throws Exception {
    observe();
    JsonNode before = await(stats, json -> true);
    assertThat(before.get("bus").textValue()).isEqualTo("bus-b");
    assertThat(before.get("state").textValue()).isEqualTo("UP");
    assertThat(before.at("/stats/connections/open").intValue()).isZero();
    cluster.client(1);
    await(stats, json -> json.at("/stats/connections/open").intValue() == 1);
    assertThat(others).as("a wildcard first does not select topics of the system").isEmpty();
    try (RawClient forger = RawClient.connected(cluster.bus(0).uri())) {
      forger.send(RawClient.publish("$SYS.bus.bus-b.stats", 1, true, "forged"));
      assertThat(forger.expectProblem().getCode()).isEqualTo(ErrorCode.ILLEGAL_TOPIC);
    }
  }

  @Test
  void aClientOfOneBusSeesWhatHappensOnBoth() throws Exception {
    observe();
    EventBusClient moved =
        EventBusClient.builder().url(cluster.bus(1).uri()).name("moved").connect();
    try {
      FederationIT.get(moved.subscribe("t", event -> {}).ready());
      JsonNode connected = await(events, event("bus-b", "client_connected"));
      assertThat(connected.at("/detail/client").textValue()).isEqualTo("moved");
      drain("bus-b");
      assertThat(await(events, event("bus-b", "drain_changed")).at("/detail/draining").asBoolean())
          .isTrue();
      assertThat(await(events, event("bus-b", "change_begun")).at("/detail/to").textValue())
          .isEqualTo("bus-a");
      // The two buses publish at the same time: only each one's own order is known.
      await(
          events,
          event("bus-b", "change_finished")
              .and(json -> json.at("/detail/outcome").textValue().equals("MOVED")));
    } finally {
      moved.close(Duration.ZERO);
    }
    await(
        events,
        event("bus-a", "client_disconnected")
            .and(json -> json.at("/detail/client").textValue().equals("moved")));
  }

  private void drain(String bus) throws Exception {
    HttpResponse<String> answer =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(
                        URI.create(
                            "http://127.0.0.1:"
                                + cluster.bus(1).adminPort()
                                + "/api/v1/drains/"
                                + bus))
                    .PUT(HttpRequest.BodyPublishers.noBody())
                    .timeout(Duration.ofSeconds(10))
                    .build(),
                HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
  }
}
