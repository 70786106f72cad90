package io.eventbus.loadtest.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.Nightly;
import io.eventbus.loadtest.system.Streams.Faults;
import io.eventbus.loadtest.system.Traffic.Client;
import io.eventbus.loadtest.system.Traffic.Publisher;
import io.eventbus.loadtest.system.Traffic.Subscriber;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Three buses as processes under load, of which one is killed, stopped, drained or started again:
 * what applications see of it. Clients of buses to which nothing happens, and all clients where no
 * bus is killed, miss nothing and get nothing twice or out of order; else what is missing is told
 * exactly.
 *
 * <p>The buses are the same for all tests: each begins with a whole cluster. What takes long runs
 * with {@code -Pnightly}.
 */
@Timeout(value = 240, unit = TimeUnit.SECONDS)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Nightly
class SwitchingSystemIT {
  private final SystemCluster cluster;
  private final Gate gate;
  private Traffic traffic = new Traffic();

  SwitchingSystemIT(@TempDir Path root) throws IOException {
    gate = new Gate();
    cluster =
        new SystemCluster(
            root,
            3,
            "EVENTBUS_CLUSTER_LEASE",
            "3s",
            "EVENTBUS_FEDERATION_PEER_TIMEOUT",
            "3s",
            "EVENTBUS_LISTEN_EVENT_LOOPS",
            "1",
            // Only the test moves clients here.
            "EVENTBUS_BALANCE_ENABLED",
            "false",
            "EVENTBUS_BALANCE_MAX_MOVES_PER_MINUTE",
            "8");
    cluster.bus(1).reachedBy(gate.uri());
  }

  @BeforeAll
  void startBuses() {
    cluster.start();
  }

  @BeforeEach
  void makeWhole() {
    cluster.repair();
    gate.leadTo(cluster.bus(1).uri());
    traffic = new Traffic();
  }

  @AfterEach
  void endTraffic() {
    traffic.close();
  }

  @AfterAll
  void stopBuses() throws IOException {
    cluster.close();
    gate.close();
  }

  // ---- A bus is killed: when so many bytes of the new bus have come to the client that moves

  @Test
  void clientsOfAKilledBusAreServedByOthersAndNobodyElseNotices() throws Exception {
    SystemBus killed = cluster.bus(2);
    List<Client> moving = new ArrayList<>();
    List<String> elsewhere = new ArrayList<>();
    for (SystemBus bus : cluster.buses()) {
      SystemBus[] others = others(bus);
      for (int i = 0; i < 3; i++) {
        Subscriber subscriber =
            traffic.subscriber(bus, "subscriber " + i + " of " + bus.name(), "kill.>", others);
        if (bus == killed) {
          moving.add(subscriber);
        }
      }
      Publisher publisher = traffic.publisher(bus, "kill." + bus.name(), 200, others);
      if (bus == killed) {
        moving.add(publisher);
      } else {
        elsewhere.add(publisher.topic);
      }
    }
    traffic.start(20);
    long begun = System.nanoTime();
    killed.kill();
    for (Client client : moving) {
      SystemCluster.await(
          () -> client.cuts.get() > 0 && client.servedAgainNanos() > begun,
          () -> client.name + " is not served again");
    }
    LongStream waits = moving.stream().mapToLong(c -> c.servedAgainNanos() - begun);
    System.out.printf(
        "bus killed: its clients were served again after ms %s%n",
        waits.map(TimeUnit.NANOSECONDS::toMillis).sorted().boxed().toList());
    traffic.awaitMore(50);
    Map<String, Integer> published = traffic.finish();
    Map<String, Integer> publishedElsewhere = new HashMap<>(published);
    publishedElsewhere.keySet().retainAll(elsewhere);
    int missing = 0;
    for (Subscriber subscriber : traffic.subscribers()) {
      if (!moving.contains(subscriber)) {
        assertThat(subscriber.streams.compare(publishedElsewhere))
            .as(subscriber.name + ", of publishers to which nothing happened")
            .isEqualTo(Faults.NONE);
        assertThat(subscriber.cuts).as(subscriber.name).hasValue(0);
      }
      missing += assertTold(subscriber, published);
    }
    System.out.printf("bus killed: %d events missing, all of them told%n", missing);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 200})
  void aClientStaysWhereItIsWhenTheBusThatItGoesToIsKilled(int bytes) throws Exception {
    SystemBus from = cluster.bus(0);
    SystemBus to = cluster.bus(1);
    traffic.publisher(from, "target.own", 200);
    traffic.publisher(cluster.bus(2), "target.other", 200);
    Publisher publisher = traffic.publisher(from, "target.moving", 200);
    Subscriber subscriber = traffic.subscriber(from, "moving subscriber", "target.>");
    traffic.subscriber(cluster.bus(2), "other subscriber", "target.>");
    traffic.start(20);
    Client[] both = {subscriber, publisher};
    for (Client client : both) {
      gate.cut(bytes, to::kill);
      cluster.move(client.name, from, to);
      assertThat(client.moves.poll(SystemBus.DEADLINE.toSeconds(), TimeUnit.SECONDS))
          .startsWith("stays: ");
      assertThat(client.bus()).isEqualTo(from.name());
      to.awaitEnd();
      traffic.awaitMore(20);
      cluster.restart(to);
      gate.leadTo(to.uri());
      cluster.awaitWhole();
    }
    assertNothingWrong(traffic.finish());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 400, 2_000})
  void aClientIsServedByTheBusThatItGoesToWhenTheOldOneIsKilled(int bytes) throws Exception {
    SystemBus from = cluster.bus(0);
    SystemBus to = cluster.bus(1);
    SystemBus third = cluster.bus(2);
    traffic.publisher(third, "old.other", 500);
    traffic.publisher(from, "old.moving", 500, third);
    Subscriber subscriber = traffic.subscriber(from, "moving subscriber", "old.>", third);
    Subscriber other = traffic.subscriber(third, "other subscriber", "old.>");
    traffic.start(20);
    gate.trap(bytes, from::kill);
    cluster.move(subscriber.name, from, to);
    from.awaitEnd();
    traffic.awaitMore(50);
    assertThat(subscriber.bus()).isIn(to.name(), third.name());
    Map<String, Integer> published = traffic.finish();
    int missing = assertTold(subscriber, published);
    int missingElsewhere = assertTold(other, published);
    assertThat(other.streams.compare(Map.of("old.other", published.get("old.other"))))
        .isEqualTo(Faults.NONE);
    System.out.printf(
        "old bus killed after %d bytes: at %s, %d events missing, %d at the other subscriber, all"
            + " of them told%n",
        bytes, subscriber.bus(), missing, missingElsewhere);
  }

  // ---- A bus stands still

  @Test
  void aBusThatStoodStillForTooLongIsWholeAgain() throws Exception {
    SystemBus still = cluster.bus(2);
    List<String> elsewhere = new ArrayList<>();
    List<Subscriber> unaffected = new ArrayList<>();
    for (SystemBus bus : cluster.buses()) {
      Subscriber subscriber =
          traffic.subscriber(bus, "subscriber of " + bus.name(), "still.>", others(bus));
      Publisher publisher = traffic.publisher(bus, "still." + bus.name(), 200, others(bus));
      if (bus != still) {
        elsewhere.add(publisher.topic);
        unaffected.add(subscriber);
      }
    }
    traffic.start(20);
    SystemBus witness = cluster.bus(0);
    String givenUp = "eventbus_federation_lost_events_total{reason=\"given_up\"}";
    double before = witness.metric(givenUp);
    still.signal("STOP");
    try {
      SystemCluster.await(
          () -> witness.metric(givenUp) > before && isDown(witness, still),
          () -> witness.get("/api/v1/buses").toString());
    } finally {
      still.signal("CONT");
    }
    long begun = System.nanoTime();
    cluster.awaitWhole();
    traffic.awaitMore(50);
    System.out.printf(
        "bus stood still: whole again after %d ms%n",
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
    Map<String, Integer> published = traffic.finish();
    int missing = 0;
    for (Subscriber subscriber : traffic.subscribers()) {
      missing += assertTold(subscriber, published);
    }
    published.keySet().retainAll(elsewhere);
    for (Subscriber subscriber : unaffected) {
      assertThat(subscriber.streams.compare(published))
          .as(subscriber.name + ", of publishers to which nothing happened")
          .isEqualTo(Faults.NONE);
    }
    System.out.printf("bus stood still: %d events missing, all of them told%n", missing);
  }

  private static boolean isDown(SystemBus witness, SystemBus bus) {
    for (var known : witness.get("/api/v1/buses").path("items")) {
      if (known.path("bus").asText().equals(bus.name())) {
        return known.path("state").asText().equals("DOWN");
      }
    }
    return true;
  }

  // ---- Nothing fails

  @Test
  void aHotTopicLeavesABus() throws Exception {
    SystemBus from = cluster.bus(0);
    traffic.publisher(from, "hot", 100);
    for (int i = 0; i < 100; i++) {
      traffic.subscriber(from, "subscriber " + i, "hot");
    }
    traffic.start(20);
    long begun = System.nanoTime();
    cluster.bus(1).ask("PUT", "/api/v1/drains/" + from.name());
    for (Client client : traffic.clients()) {
      assertThat(client.moves.poll(SystemBus.DEADLINE.toSeconds(), TimeUnit.SECONDS))
          .as(client.name)
          .isIn(cluster.bus(1).name(), cluster.bus(2).name());
    }
    SystemCluster.await(
        () -> from.metric("eventbus_connections") == 0, () -> "clients are left on " + from.name());
    System.out.printf(
        "hot topic: 101 clients gone after %d ms%n",
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
    traffic.awaitMore(20);
    assertNothingWrong(traffic.finish());
  }

  @Test
  void allBusesAreRestartedOneAfterTheOther() throws Exception {
    for (SystemBus bus : cluster.buses()) {
      traffic.publisher(bus, "rolling." + bus.name(), 200);
      for (int i = 0; i < 3; i++) {
        traffic.subscriber(bus, "subscriber " + i + " of " + bus.name(), "rolling.>");
      }
    }
    traffic.start(20);
    for (SystemBus bus : cluster.buses()) {
      long begun = System.nanoTime();
      bus.terminate();
      bus.awaitEnd();
      long ended = System.nanoTime();
      assertThat(traffic.clients()).noneMatch(client -> client.bus().equals(bus.name()));
      cluster.restart(bus);
      gate.leadTo(cluster.bus(1).uri());
      cluster.awaitWhole();
      System.out.printf(
          "rolling restart: %s ended after %d ms, and was back after %d ms%n",
          bus.name(),
          TimeUnit.NANOSECONDS.toMillis(ended - begun),
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - ended));
      traffic.awaitMore(20);
    }
    assertNothingWrong(traffic.finish());
  }

  // ---- What is checked

  private SystemBus[] others(SystemBus bus) {
    return cluster.buses().stream().filter(other -> other != bus).toArray(SystemBus[]::new);
  }

  /** Everybody got everything, once and in order, and no connection was cut. */
  private void assertNothingWrong(Map<String, Integer> published) {
    for (Subscriber subscriber : traffic.subscribers()) {
      assertThat(subscriber.streams.compare(published)).as(subscriber.name).isEqualTo(Faults.NONE);
    }
    for (Client client : traffic.clients()) {
      assertThat(client.cuts).as("cuts of " + client.name).hasValue(0);
    }
  }

  /** Nothing came twice or out of order, and what is missing was told; returns how much that is. */
  private static int assertTold(Subscriber subscriber, Map<String, Integer> published) {
    Faults faults = subscriber.streams.compare(published);
    assertThat(faults).as(subscriber.name).isEqualTo(new Faults(faults.missing(), 0, 0, 0, 0));
    return faults.missing();
  }
}
