package io.eventbus.loadtest.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.loadtest.Nightly;
import io.eventbus.loadtest.system.Streams.Faults;
import io.eventbus.loadtest.system.Traffic.Client;
import io.eventbus.loadtest.system.Traffic.Publisher;
import io.eventbus.loadtest.system.Traffic.Subscriber;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Three buses as on machines of their own, with a network between them that is slow, loses packets
 * and is cut, or with a machine that stands still. All settings that matter to it are the defaults.
 *
 * <p>It is left out where the network cannot be made, see {@link NamespaceNetwork}. What takes long
 * runs with {@code -Pnightly}.
 */
@Timeout(value = 240, unit = TimeUnit.SECONDS)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Nightly
class NetworkSystemIT {
  private static final String GIVEN_UP =
      "eventbus_federation_lost_events_total{reason=\"given_up\"}";

  /**
   * From the mending of a cut until interest and routes are right; only notices that they never
   * are.
   */
  private static final Duration WHOLE = Duration.ofSeconds(60);

  private final NamespaceNetwork network;
  private final SystemCluster cluster;
  private Traffic traffic = new Traffic();

  NetworkSystemIT(@TempDir Path root) throws Exception {
    network = network();
    cluster =
        new SystemCluster(
            root,
            3,
            bus ->
                new SystemBus.Place(
                    network.prefix(bus), network.clientHost(bus), network.linkHost(bus)),
            "EVENTBUS_LISTEN_EVENT_LOOPS",
            "1",
            // Clients stay where they are.
            "EVENTBUS_BALANCE_ENABLED",
            "false");
  }

  private static NamespaceNetwork network() throws InterruptedException {
    try {
      return NamespaceNetwork.create(3);
    } catch (IOException e) {
      return Assumptions.abort(
          "no network of namespaces (it needs root, ip and tc): " + e.getMessage());
    }
  }

  @BeforeAll
  void startBuses() {
    cluster.start().awaitWhole();
  }

  @BeforeEach
  void makeGood() throws Exception {
    network.impair(Duration.ZERO, 0);
    cluster.awaitWhole();
    traffic = new Traffic();
  }

  @AfterEach
  void endTraffic() {
    traffic.close();
  }

  @AfterAll
  void stopBuses() {
    try {
      cluster.close();
    } finally {
      network.close();
    }
  }

  /** A publisher and a subscriber at each bus. */
  private List<Publisher> everywhere(String topics, int perSecond) throws Exception {
    List<Publisher> publishers = new ArrayList<>();
    for (SystemBus bus : cluster.buses()) {
      traffic.subscriber(bus, "subscriber of " + bus.name(), topics + ".>");
      publishers.add(traffic.publisher(bus, topics + "." + bus.name(), perSecond));
    }
    return publishers;
  }

  // ---- Slow, and with losses

  @Test
  void aBadNetworkAndAShortCutLoseNothing() throws Exception {
    everywhere("bad", 500);
    network.impair(Duration.ofMillis(5), 1);
    traffic.start(200);
    network.down(2);
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(300));
    network.up(2);
    traffic.awaitMore(200);
    assertNothingWrong(traffic.finish());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 5, 20})
  void aSlowNetworkThatLosesPacketsLosesNoEvents(int delayMillis) throws Exception {
    everywhere("slow", 1_000);
    network.impair(Duration.ofMillis(delayMillis), 1);
    long before = network.lost();
    traffic.start(10_000);
    Map<String, Integer> published = traffic.finish();
    assertNothingWrong(published);
    System.out.printf(
        "network with %d ms and 1 %% loss (%s): %s events published, each to 3 subscribers; %d"
            + " packets lost, 0 events lost, doubled or out of order%n",
        delayMillis, network.describe(), published.values(), network.lost() - before);
  }

  // ---- Cut in two

  /** Longer than the silence after which links are opened anew, and shorter than the lease. */
  @Test
  void aCutAfterWhichNobodyIsGivenUpLosesNothing() throws Exception {
    everywhere("pause", 200);
    traffic.start(20);
    double before = cluster.bus(0).metric("eventbus_federation_connects_total");
    network.down(2);
    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(5));
    network.up(2);
    long mended = System.nanoTime();
    traffic.awaitMore(1);
    long routes = System.nanoTime() - mended;
    assertThat(cluster.bus(0).metric("eventbus_federation_connects_total"))
        .as("links opened anew")
        .isGreaterThan(before);
    assertNothingWrong(traffic.finish());
    System.out.printf(
        "cut off for 5 s: events of all buses everywhere after %d ms; 0 events lost, doubled or out"
            + " of order%n",
        TimeUnit.NANOSECONDS.toMillis(routes));
    assertThat(Duration.ofNanos(routes)).isLessThanOrEqualTo(WHOLE);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void bothSidesOfACutServeTheirClientsAndAreOneAgain(boolean leads) throws Exception {
    SystemBus alone = theOneThat(leads);
    int number = cluster.buses().indexOf(alone);
    List<SystemBus> majority = cluster.buses().stream().filter(bus -> bus != alone).toList();
    List<Publisher> publishers = everywhere("cut", 200);
    traffic.start(20);
    Map<SystemBus, Double> lostBefore = new HashMap<>();
    cluster.buses().forEach(bus -> lostBefore.put(bus, bus.metric(GIVEN_UP)));

    network.down(number);
    long cut = System.nanoTime();
    for (SystemBus bus : majority) {
      SystemCluster.await(
          () -> state(bus, alone).equals("DOWN"), () -> bus.get("/api/v1/buses").toString());
    }
    for (SystemBus bus : cluster.buses()) {
      SystemCluster.await(
          () -> bus.metric(GIVEN_UP) > lostBefore.getOrDefault(bus, 0.0),
          () -> bus.name() + " has given up nobody\n" + bus.tail());
    }
    // Each side serves its own clients, the new ones included.
    traffic.subscriber(alone, "new subscriber of the smaller side", "cut.>");
    traffic.subscriber(majority.get(0), "new subscriber of the larger side", "cut.>");
    traffic.awaitMoreOfEachSide(50, publishers, alone);
    assertThatTheMinorityCannotChangeTheRegistry(alone, majority.get(0));
    double cutSeconds = (System.nanoTime() - cut) / 1e9;

    network.up(number);
    long mended = System.nanoTime();
    traffic.awaitMore(1);
    long routes = System.nanoTime() - mended;
    cluster.awaitWhole();
    long whole = System.nanoTime() - mended;
    for (SystemBus bus : cluster.buses()) {
      SystemCluster.await(
          () -> cluster.buses().stream().allMatch(other -> state(bus, other).equals("UP")),
          () -> bus.get("/api/v1/buses").toString());
    }
    long registry = System.nanoTime() - mended;
    Map<String, Integer> published = traffic.finish();
    int missing = assertOnlyTheOtherSideIsMissing(published, alone);
    double counted = 0;
    for (SystemBus bus : cluster.buses()) {
      counted += bus.metric(GIVEN_UP) - lostBefore.getOrDefault(bus, 0.0);
    }
    System.out.printf(
        "%s cut off for %.1f s: events of all buses everywhere after %d ms, all lanes and loads"
            + " after %d ms, all UP after %d ms; %d events missing, all of them told; the buses"
            + " counted %.0f%n",
        leads ? "leader" : "follower",
        cutSeconds,
        TimeUnit.NANOSECONDS.toMillis(routes),
        TimeUnit.NANOSECONDS.toMillis(whole),
        TimeUnit.NANOSECONDS.toMillis(registry),
        missing,
        counted);
    assertThat(Duration.ofNanos(routes)).isLessThanOrEqualTo(WHOLE);
    assertThat(counted).isPositive();
  }

  private SystemBus theOneThat(boolean leads) {
    String leader = cluster.bus(0).registry().path("leader").asText();
    return cluster.buses().stream()
        .filter(bus -> bus.name().equals(leader) == leads)
        .findFirst()
        .orElseThrow();
  }

  private static void assertThatTheMinorityCannotChangeTheRegistry(
      SystemBus alone, SystemBus other) {
    long version = alone.get("/api/v1/registry").path("version").asLong();
    assertThat(version).isLessThan(other.get("/api/v1/registry").path("version").asLong());
    // A read of the newest state needs the majority, too.
    assertThat(other.answer("GET", "/api/v1/registry/backup").statusCode()).isEqualTo(200);
    assertThat(alone.answer("GET", "/api/v1/registry/backup").statusCode()).isIn(503, 504);
    assertThat(alone.answer("PUT", "/api/v1/registry/leader/" + alone.name()).statusCode())
        .isIn(409, 503, 504);
    assertThat(alone.get("/api/v1/registry").path("version").asLong()).isEqualTo(version);
    assertThat(alone.registry().path("role").asText()).isNotEqualTo("LEADER");
  }

  /**
   * Checks that everything came from buses that are reached; returns how much of the others is
   * missing.
   */
  private int assertOnlyTheOtherSideIsMissing(Map<String, Integer> published, SystemBus alone) {
    int missing = 0;
    for (Subscriber subscriber : traffic.subscribers()) {
      if (subscriber.name.startsWith("new ")) {
        // Earlier events are not missing to it; those that it got are right all the same.
        Faults faults = subscriber.streams.compare(published);
        assertThat(faults.doubled() + faults.disordered()).as(subscriber.name).isZero();
        continue;
      }
      Map<String, Integer> own = new HashMap<>(published);
      own.keySet()
          .removeIf(t -> t.endsWith(alone.name()) != subscriber.name.endsWith(alone.name()));
      assertThat(subscriber.streams.compare(own))
          .as(subscriber.name + ", of its own side")
          .isEqualTo(Faults.NONE);
      Faults faults = subscriber.streams.compare(published);
      assertThat(faults).as(subscriber.name).isEqualTo(new Faults(faults.missing(), 0, 0, 0, 0));
      missing += faults.missing();
    }
    for (Client client : traffic.clients()) {
      assertThat(client.cuts).as("cuts of " + client.name).hasValue(0);
    }
    return missing;
  }

  // ---- A bus stands still

  @ParameterizedTest
  @ValueSource(ints = {1, 15})
  void aBusThatStoodStillOnABadNetworkIsWholeAgain(int seconds) throws Exception {
    SystemBus still = cluster.bus(1);
    network.impair(Duration.ofMillis(5), 1);
    everywhere("still", 200);
    traffic.start(20);
    still.signal("STOP");
    try {
      LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(seconds));
    } finally {
      still.signal("CONT");
    }
    long begun = System.nanoTime();
    traffic.awaitMore(1);
    long routes = System.nanoTime() - begun;
    cluster.awaitWhole();
    Map<String, Integer> published = traffic.finish();
    int missing = 0;
    for (Subscriber subscriber : traffic.subscribers()) {
      Faults faults = subscriber.streams.compare(published);
      assertThat(faults).as(subscriber.name).isEqualTo(new Faults(faults.missing(), 0, 0, 0, 0));
      missing += faults.missing();
    }
    System.out.printf(
        "bus stopped for %d s: events of all buses everywhere after %d ms; %d events missing, all of"
            + " them told%n",
        seconds, TimeUnit.NANOSECONDS.toMillis(routes), missing);
    assertThat(Duration.ofNanos(routes)).isLessThanOrEqualTo(WHOLE);
    if (seconds == 1) {
      assertThat(missing).isZero();
    }
  }

  // ---- What is checked

  private static String state(SystemBus witness, SystemBus bus) {
    for (JsonNode known : witness.get("/api/v1/buses").path("items")) {
      if (known.path("bus").asText().equals(bus.name())) {
        return known.path("state").asText();
      }
    }
    return "DOWN";
  }

  private void assertNothingWrong(Map<String, Integer> published) {
    for (Subscriber subscriber : traffic.subscribers()) {
      assertThat(subscriber.streams.compare(published)).as(subscriber.name).isEqualTo(Faults.NONE);
    }
    for (Client client : traffic.clients()) {
      assertThat(client.cuts).as("cuts of " + client.name).hasValue(0);
    }
  }
}
