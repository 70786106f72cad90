package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Members of one service at several buses: events to them, and presence events about them. */
@Timeout(120)
class FederatedMembersIT {
  private static final Pattern WHAT = Pattern.compile("\"bus\":\"([^\"]+)\".*\"type\":\"(\\w+)\"");

  private static FederatedBuses buses;

  @BeforeAll
  static void start(@TempDir Path root) throws Exception {
    // Longer than it takes to come back: what is told must not depend on it.
    buses = FederatedBuses.start(root, 2, "services.rejoin", "10m");
  }

  @AfterEach
  void closeClients() {
    buses.closeClients();
  }

  @AfterAll
  static void close() {
    buses.close();
  }

  private static <T> T get(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static String take(BlockingQueue<String> queue) throws InterruptedException {
    return Objects.requireNonNull(queue.poll(60, TimeUnit.SECONDS), "nothing within 60 s");
  }

  private static Service member(
      EventBusClient client, String name, BlockingQueue<String> broadcasts) throws Exception {
    Service service =
        client.serve(
            name,
            ServiceOptions.DEFAULT.withConcurrency(0),
            invocation -> CompletableFuture.completedFuture(invocation.event()));
    service.onBroadcast(event -> broadcasts.add(event.text()));
    return get(service.ready());
  }

  @Test
  void broadcastsReachMembersAtAllBuses() throws Exception {
    BlockingQueue<String> here = new LinkedBlockingQueue<>();
    BlockingQueue<String> there = new LinkedBlockingQueue<>();
    member(buses.client(0), "it.far", here);
    // Confirmed: the other bus knows.
    member(buses.client(1), "it.far", there);
    EventBusClient from = buses.client(0);
    for (int i = 0; i < 100; i++) {
      get(from.broadcast("it.far", Event.of("e" + i)));
    }
    for (int i = 0; i < 100; i++) {
      assertThat(take(here)).isEqualTo("e" + i);
      assertThat(take(there)).isEqualTo("e" + i);
    }
  }

  @Test
  void aMemberThatComesBackAtAnotherBusHasMoved() throws Exception {
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    get(
        buses
            .client(0)
            .subscribe("$SYS.services.it.moves", event -> seen.add(told(event.text())))
            .ready());
    try (CuttableProxy proxy = new CuttableProxy()) {
      URI first = buses.bus(0).uri();
      proxy.to(first.getPort());
      EventBusClient client =
          buses.client(URI.create("ws://127.0.0.1:" + proxy.port() + first.getPath()));
      Service service = member(client, "it.moves", new LinkedBlockingQueue<>());
      assertThat(take(seen)).isEqualTo("joined bus-a");
      proxy.cut();
      assertThat(take(seen)).isEqualTo("moved bus-b");
      assertThat(get(service.close(Duration.ofSeconds(10)))).isTrue();
      assertThat(take(seen)).isEqualTo("left bus-b");
    }
  }

  private static String told(String json) {
    Matcher matcher = WHAT.matcher(json);
    assertThat(matcher.find()).as(json).isTrue();
    return matcher.group(2) + " " + matcher.group(1);
  }
}
