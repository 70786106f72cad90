package io.eventbus.server;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.client.EventBusClient;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.samples.TestKey;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Durable topics of a bus that stores its events on a disk. */
@Timeout(180)
class DurableStoreTest {
  private static BusServer start(Path directory) throws IOException {
    return start(directory, "");
  }

  private static BusServer start(Path directory, String journals) throws IOException {
    return BusServer.start(
        ServerConfig.of(
            Map.of(
                "durable.journals",
                journals,
                "listen.host",
                "127.0.0.1",
                "listen.port",
                "0",
                "admin.port",
                "0",
                "timeouts.shutdown",
                "1s",
                "durable.directory",
                directory.resolve("data").toString(),
                "auth.resume-key-file",
                TestKey.FILE.toString())));
  }

  private static String send(BusServer bus, String method, String path) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(
                    URI.create("http://127.0.0.1:" + bus.adminPort() + "/api/v1/journals" + path))
                .timeout(Duration.ofSeconds(60))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  private static void publish(BusServer bus, int from, int to) throws Exception {
    BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
    try (EventBusClient client = EventBusClient.builder().url(bus.uri()).connect()) {
      client.subscribe("orders.>", received::add).ready().toCompletableFuture().get(60, SECONDS);
      List<CompletableFuture<Published>> stored = new ArrayList<>();
      for (int i = from; i < to; i++) {
        stored.add(client.publish("orders." + i % 7, "event " + i).toCompletableFuture());
      }
      for (CompletableFuture<Published> each : stored) {
        each.get(60, SECONDS);
      }
      for (int i = from; i < to; i++) {
        ReceivedEvent event = received.poll(60, SECONDS);
        assertThat(event).isNotNull();
        assertThat(event.text()).isEqualTo("event " + i);
      }
    }
  }

  @Test
  void journalsAndEventsAreThereAfterARestart(@TempDir Path directory) throws Exception {
    try (BusServer bus = start(directory)) {
      assertThat(send(bus, "PUT", "/orders?filters=orders.%3E")).contains("\"number\":1");
      publish(bus, 0, 500);
    }
    try (BusServer bus = start(directory)) {
      assertThat(send(bus, "GET", "/orders"))
          .contains("\"lastPosition\":500", "\"events\":500", "\"topics\":7");
      publish(bus, 500, 600);
      assertThat(send(bus, "GET", "/orders")).contains("\"lastPosition\":600");
    }
  }

  @Test
  void journalsOfTheConfigurationAreCreatedOrHaveToBeAsTheyStandThere(@TempDir Path directory)
      throws Exception {
    String journals = "orders orders.> max-events=1000, prices prices.> keep=latest account=acme";
    try (BusServer bus = start(directory, journals)) {
      publish(bus, 0, 10);
      assertThat(send(bus, "GET", "/prices?account=acme")).contains("\"keep\":\"latest\"");
    }
    try (BusServer bus = start(directory, journals)) {
      assertThat(send(bus, "GET", "/orders")).contains("\"lastPosition\":10");
    }
    assertThatThrownBy(() -> start(directory, "orders orders.> max-events=2000"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("durable.journals: the journal orders in " + directory)
        .hasMessageContaining("has max-events=1000 (expected: 2000)");
    assertThatThrownBy(() -> start(directory, "orders a..b"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("durable.journals: in \"orders a..b\" filters: illegal");
    start(directory).close();
  }

  @Test
  void filesWithoutTheirNameAreRefused(@TempDir Path directory) throws Exception {
    start(directory).close();
    Path name = directory.resolve("data/cluster");
    String before = Files.readString(name);
    Files.delete(name);
    assertThatThrownBy(() -> start(directory))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(name.toString())
        .hasMessageContaining("missing");
    Files.writeString(name, "no name");
    assertThatThrownBy(() -> start(directory)).hasMessageContaining("expected: a UUID");
    Files.writeString(name, "00000000-0000-4000-8000-000000000000");
    assertThatThrownBy(() -> start(directory)).isInstanceOf(IOException.class);
    Files.writeString(name, before);
    start(directory).close();
  }
}
