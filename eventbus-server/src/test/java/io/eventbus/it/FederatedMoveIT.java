package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Gap;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.SendResult;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients of one topic that leave a bus one after the other, so that for a while they are at both:
 * nothing is lost only if buses forward events to each other.
 */
@Timeout(240)
class FederatedMoveIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String TOPIC = "hot.topic";

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<BusServer> buses = new ArrayList<>();
  private final List<EventBusClient> clients = new ArrayList<>();
  private final BlockingQueue<String> faults = new LinkedBlockingQueue<>();
  private final BlockingQueue<URI> moved = new LinkedBlockingQueue<>();
  private final BitSet worked = new BitSet();
  private final AtomicLong workedTwice = new AtomicLong();
  private final Path root;

  private final ConnectionListener listener =
      new ConnectionListener() {
        @Override
        public void busChanged(ConnectionInfo before, ConnectionInfo now) {
          moved.add(now.url());
        }

        @Override
        public void busChangeFailed(URI url, String why) {
          faults.add("stays: " + why);
        }

        @Override
        public void gap(Gap gap) {
          faults.add(gap.toString());
        }

        @Override
        public void disconnected(int code, String reason, boolean willReconnect) {
          faults.add("disconnected " + code + " " + reason);
        }
      };

  FederatedMoveIT(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void close() {
    clients.forEach(client -> client.close(Duration.ZERO));
    TestBus.closeAll(buses);
  }

  private BusServer start(String name, String join) throws IOException {
    BusServer bus =
        TestBus.startMember(
            root, name, "cluster.join", join, "cluster.leave", "0s", "balance.enabled", "false");
    buses.add(bus);
    return bus;
  }

  private EventBusClient connect(BusServer bus, String name) {
    EventBusClient client =
        EventBusClient.builder().url(bus.uri()).name(name).listener(listener).connect();
    clients.add(client);
    return client;
  }

  private JsonNode ask(BusServer bus, String method, String path) throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bus.adminPort() + path))
                .timeout(Duration.ofSeconds(10))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isLessThan(300);
    return JSON.readTree(answer.body());
  }

  private void move(BusServer from, BusServer to, String name) throws Exception {
    for (JsonNode connection : ask(from, "GET", "/api/v1/connections").path("items")) {
      if (connection.path("client").asText().equals(name)) {
        String path = "/api/v1/moves/" + connection.path("id").asText() + "?to=" + to.name();
        ask(from, "PUT", path);
        assertThat(moved.poll(60, TimeUnit.SECONDS)).as(faults.toString()).isEqualTo(to.uri());
        return;
      }
    }
    throw new AssertionError(name + " is not at " + from.name());
  }

  private AtomicLong subscriber(BusServer bus, String name, @Nullable String group)
      throws Exception {
    AtomicLong last = new AtomicLong();
    connect(bus, name)
        .subscribe(
            TOPIC,
            SubscribeOptions.DEFAULT.withGroup(group),
            event -> check(event, last, group != null))
        .ready()
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
    return last;
  }

  private void check(ReceivedEvent event, AtomicLong last, boolean ofGroup) {
    long before = last.getAndSet(event.sequence());
    boolean inOrder = ofGroup ? event.sequence() > before : event.sequence() == before + 1;
    if (!inOrder) {
      faults.add(event.sequence() + " after " + before + (ofGroup ? " (group)" : ""));
    }
    if (ofGroup) {
      synchronized (worked) {
        if (worked.get((int) event.sequence())) {
          workedTwice.incrementAndGet();
        }
        worked.set((int) event.sequence());
      }
    }
  }

  @Test
  void aHotTopicGoesFromBusToBusClientByClient() throws Exception {
    BusServer a = start("bus-a", "");
    BusServer b = start("bus-b", "127.0.0.1:" + a.linkPort());
    WatchedBus.await(() -> a.linkPort() > 0 && heard(a, b) && heard(b, a), faults::toString);
    List<String> names = new ArrayList<>();
    List<AtomicLong> last = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      names.add("subscriber-" + i);
      last.add(subscriber(i % 2 == 0 ? a : b, "subscriber-" + i, null));
    }
    for (int i = 0; i < 3; i++) {
      subscriber(a, "worker-" + i, "workers");
    }
    EventBusClient publisher = connect(a, "publisher");
    AtomicLong sent = new AtomicLong();
    AtomicBoolean stop = new AtomicBoolean();
    Thread publishing =
        new Thread(
            () -> {
              while (!stop.get()) {
                if (publisher.send(TOPIC, Event.of("x")) == SendResult.ACCEPTED) {
                  sent.incrementAndGet();
                }
                LockSupport.parkNanos(50_000);
              }
            });
    publishing.start();
    try {
      for (int i = 0; i < 10; i++) {
        move(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a, names.get(i));
      }
      move(a, b, "publisher");
      for (int i = 0; i < 3; i++) {
        move(a, b, "worker-" + i);
      }
      move(b, a, "publisher");
    } finally {
      stop.set(true);
      publishing.join(10_000);
    }
    publisher.flush(Duration.ofSeconds(20));
    for (AtomicLong seen : last) {
      WatchedBus.await(() -> seen.get() == sent.get(), () -> seen + " of " + sent + " " + faults);
    }
    WatchedBus.await(() -> workedSoFar() == sent.get(), () -> workedSoFar() + " of " + sent);
    assertThat(workedTwice).hasValue(0);
    assertThat(faults).isEmpty();
  }

  private long workedSoFar() {
    synchronized (worked) {
      return worked.cardinality();
    }
  }

  private boolean heard(BusServer by, BusServer of) {
    try {
      for (JsonNode bus : ask(by, "GET", "/api/v1/buses").path("items")) {
        if (bus.path("bus").asText().equals(of.name())) {
          return bus.path("clients").asLong() >= 0;
        }
      }
      return false;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
