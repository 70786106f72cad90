package io.eventbus.it;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Start;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Durable topics of a cluster, whose buses all have a replica of the journals. */
class DurableClusterIT extends DurableBuses {
  DurableClusterIT(@TempDir Path root) {
    super(root);
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
  void aBusThatComesBackDeliversWhatItMissed() throws Exception {
    startThree();
    create(buses.get(0), "orders");
    BusServer c = buses.get(2);
    BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
    EventBusClient consumer = connect(c);
    DurableSubscription first = billing(consumer, received);
    EventBusClient publisher = connect(buses.get(0));
    publish(publisher, 1, 20);
    expect(received, 1, 20);
    get(first.unsubscribe());
    consumer.close(Duration.ZERO);
    int port = c.linkPort();
    c.close();
    buses.remove(c);
    publish(publisher, 21, 40);
    // No bus but this one could tell it which topics are durable before it takes clients.
    BusServer again = startWithData("bus-c", "cluster.port", Integer.toString(port));
    publish(connect(again), 41, 60);
    billing(connect(again), received);
    expect(received, 21, 60);
    assertThat(received).isEmpty();
  }

  private static DurableSubscription billing(
      EventBusClient client, BlockingQueue<ReceivedEvent> received) throws Exception {
    return get(
        client
            .durable("billing")
            .filter("orders.>")
            .from(Start.FIRST)
            .handler(received::add)
            .ready());
  }

  @Test
  void aSubscriberThatMovesMissesNothingAndGetsNothingTwice() throws Exception {
    startThree();
    create(buses.get(0), "orders");
    BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
    BlockingQueue<String> moves = new LinkedBlockingQueue<>();
    EventBusClient subscriber =
        EventBusClient.builder()
            .url(buses.get(0).uri())
            .name("mover")
            .listener(
                new ConnectionListener() {
                  @Override
                  public void busChanged(ConnectionInfo before, ConnectionInfo now) {
                    moves.add("to " + now.url());
                  }

                  @Override
                  public void busChangeFailed(URI url, String why) {
                    moves.add("stays: " + why);
                  }
                })
            .connect();
    clients.add(subscriber);
    get(subscriber.subscribe("orders.>", received::add).ready());
    EventBusClient publisher = connect(buses.get(2));
    AtomicBoolean stop = new AtomicBoolean();
    CompletableFuture<List<CompletableFuture<Published>>> published =
        CompletableFuture.supplyAsync(
            () -> {
              List<CompletableFuture<Published>> all = new ArrayList<>();
              while (!stop.get()) {
                all.add(publisher.publish("orders.1", "x").toCompletableFuture());
                LockSupport.parkNanos(200_000);
              }
              return all;
            });
    try {
      for (int i = 0; i < 6; i++) {
        BusServer from = buses.get(i % 3);
        BusServer to = buses.get((i + 1) % 3);
        move(from, to);
        assertThat(moves.poll(60, SECONDS)).isEqualTo("to " + to.uri());
      }
    } finally {
      stop.set(true);
    }
    List<CompletableFuture<Published>> all = get(published);
    for (CompletableFuture<Published> each : all) {
      Published unused = get(each);
    }
    for (long position = 1; position <= all.size(); position++) {
      assertThat(next(received).position()).isEqualTo(position);
    }
    assertThat(received).isEmpty();
  }

  private void move(BusServer from, BusServer to) throws Exception {
    JsonNode connections = JSON.readTree(send(from, "GET", "/api/v1/connections").body());
    for (JsonNode connection : connections.path("items")) {
      if (connection.path("client").asText().equals("mover")) {
        String path = "/api/v1/moves/" + connection.path("id").asText() + "?to=" + to.name();
        HttpResponse<String> answer = send(from, "PUT", path);
        assertThat(answer.statusCode()).as(answer.body()).isLessThan(300);
        return;
      }
    }
    throw new AssertionError("the client is not at " + from.name());
  }

  @Test
  void nothingThatWasConfirmedIsLostOrDoubledWhenTheLeaderIsKilled() throws Exception {
    Map<String, BusProcess> processes = new LinkedHashMap<>();
    try {
      startProcesses(processes);
      BusProcess first = Objects.requireNonNull(processes.get("bus-a"));
      WatchedBus.await(() -> up(first) == 3, () -> "buses that are UP");
      assertThat(create(first.adminPort(), "orders")).contains("\"number\":1");
      String leader =
          JSON.readTree(first.admin("/api/v1/shards"))
              .path("items")
              .path(0)
              .path("leader")
              .asText();
      BusProcess killed = Objects.requireNonNull(processes.remove(leader));
      Map<String, CompletableFuture<Published>> published = new TreeMap<>();
      BlockingQueue<JsonNode> told = new LinkedBlockingQueue<>();
      List<EventBusClient> publishers = new ArrayList<>();
      for (BusProcess survivor : processes.values()) {
        EventBusClient client = EventBusClient.builder().url(survivor.uri()).connect();
        clients.add(client);
        publishers.add(client);
      }
      get(
          publishers
              .get(0)
              .subscribe("$SYS.bus.*.events", event -> told.add(JSON.readTree(event.payload())))
              .ready());
      for (int i = 0; i < 400; i++) {
        for (int p = 0; p < publishers.size(); p++) {
          String text = "event " + i + " of " + p;
          published.put(text, publishers.get(p).publish("orders." + p, text).toCompletableFuture());
        }
        if (i == 100) {
          // What is confirmed before the leader's end, and what is under way then.
          Published unused = get(Objects.requireNonNull(published.get("event 50 of 0")));
        }
        if (i == 200) {
          killed.kill();
        }
      }
      Map<Long, String> stored = new TreeMap<>();
      for (Map.Entry<String, CompletableFuture<Published>> one : published.entrySet()) {
        Published answer = get(one.getValue());
        // Of a frame that was sent again, and had been stored, only the last event is told its
        // position.
        if (answer.position() > 0) {
          assertThat(stored.put(answer.position(), one.getKey())).isNull();
        } else {
          assertThat(answer.repeated()).as(one.getKey()).isTrue();
        }
      }
      for (EventBusClient client : publishers) {
        BlockingQueue<ReceivedEvent> received = new LinkedBlockingQueue<>();
        DurableSubscription unused =
            get(
                client
                    .replay()
                    .filter("orders.>")
                    .from(Start.FIRST)
                    .handler(received::add)
                    .ready());
        TreeSet<String> texts = new TreeSet<>();
        for (long position = 1; position <= 800; position++) {
          ReceivedEvent event = next(received);
          assertThat(event.position()).isEqualTo(position);
          assertThat(event.text()).isEqualTo(stored.getOrDefault(position, event.text()));
          texts.add(event.text());
        }
        assertThat(texts).isEqualTo(published.keySet());
        assertThat(received).isEmpty();
      }
      // Behind that of the bus that was killed, perhaps.
      JsonNode elected =
          told(
              told,
              event ->
                  event.path("type").asText().equals("shard_leader_changed")
                      && processes.containsKey(event.path("bus").asText()));
      assertThat(elected.path("detail").path("leader")).isEqualTo(elected.path("bus"));
    } finally {
      for (BusProcess process : processes.values()) {
        process.kill();
      }
    }
  }

  /** Waits for an event of a bus. */
  private static JsonNode told(BlockingQueue<JsonNode> events, Predicate<JsonNode> meant)
      throws Exception {
    List<JsonNode> others = new ArrayList<>();
    while (true) {
      JsonNode event = events.poll(120, SECONDS);
      assertThat(event).as("after %s", others).isNotNull();
      if (meant.test(event)) {
        return event;
      }
      others.add(event);
    }
  }

  @Test
  void theStateOfTheReplicasIsTold() throws Exception {
    startThree();
    assertThat(send(buses.get(0), "GET", "/api/v1/shards").body()).contains("\"items\":[]");
    create(buses.get(0), "orders");
    Set<String> leaders = new TreeSet<>();
    for (BusServer bus : buses) {
      JsonNode shard =
          JSON.readTree(send(bus, "GET", "/api/v1/shards").body()).path("items").path(0);
      assertThat(shard.path("number").asInt()).isEqualTo(1);
      leaders.add(shard.path("leader").asText());
      assertThat(shard.path("members")).hasSize(3);
      for (JsonNode member : shard.path("members")) {
        assertThat(member.path("voter").asBoolean()).isTrue();
        assertThat(member.path("needsCopy").asBoolean()).isFalse();
        assertThat(member.path("bus").asText()).startsWith("bus-");
      }
    }
    assertThat(leaders).hasSize(1);
    long leading = 0;
    for (BusServer bus : buses) {
      leading +=
          send(bus, "GET", "/metrics").body().contains("\neventbus_shard_leader 1.0\n") ? 1 : 0;
    }
    assertThat(leading).isEqualTo(1);
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
  void aBusWithoutADataDirectoryIsRefusedByAClusterWithJournals() throws Exception {
    BusServer a = startWithData("bus-a");
    awaitUp(1);
    create(a, "orders");
    assertThat(get(connect(a).publish("orders.1", "x")).position()).isEqualTo(1);
    assertRefused(() -> start("bus-b", "cluster.join", joinOf(a)), "durable.directory: none");
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
