package io.eventbus.loadtest.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.loadtest.Nightly;
import io.eventbus.loadtest.system.Streams.Faults;
import io.eventbus.loadtest.system.Traffic.Client;
import io.eventbus.loadtest.system.Traffic.Subscriber;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three buses as processes that fill up one after another: what is too much for the first goes to
 * the second, which is near, and what is too much for both to the third. Nobody misses anything.
 * Runs with {@code -Pnightly}.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Nightly
class FillingUpSystemIT {
  /** Events of each publisher in a second; each comes in once and goes out once. */
  private static final int RATE = 25;

  /** Of what a bus can do, a publisher with its subscriber. */
  private static final double SHARE = 0.05;

  private static final int CAPACITY = (int) (2 * RATE / SHARE);
  private static final double HIGH = 0.85;

  private final SystemCluster cluster;
  private final Traffic traffic = new Traffic();
  private int pairs;

  FillingUpSystemIT(@TempDir Path root) throws IOException {
    cluster =
        new SystemCluster(
            root,
            3,
            "EVENTBUS_LISTEN_EVENT_LOOPS",
            "1",
            "EVENTBUS_BALANCE_OVERLOAD_AFTER",
            "1s",
            "EVENTBUS_BALANCE_COOL_DOWN",
            "5s",
            "EVENTBUS_BALANCE_CAPACITY_EVENTS",
            Integer.toString(CAPACITY));
    cluster.bus(0).in("near");
    cluster.bus(1).in("near");
    cluster.bus(2).in("far");
  }

  @BeforeEach
  void start() {
    cluster.start().awaitWhole();
  }

  @AfterEach
  void close() {
    traffic.close();
    cluster.close();
  }

  @Test
  void whatIsTooMuchForOneBusGoesToTheNext() throws Exception {
    SystemBus first = cluster.bus(0);
    SystemBus second = cluster.bus(1);
    SystemBus third = cluster.bus(2);
    come(first, 12);
    settle("12 come to " + first.name());
    come(first, 6);
    awaitFirstMove(second);
    settle("6 more");
    assertThat(clients(third)).as("there is room nearby").isZero();
    come(first, 8);
    settle("8 more");
    come(first, 7);
    awaitFirstMove(third);
    settle("7 more");
    come(second, 5);
    settle("5 come to " + second.name());
    Map<String, Integer> published = traffic.finish();
    for (Subscriber subscriber : traffic.subscribers()) {
      assertThat(subscriber.streams.compare(subscriber.of(published)))
          .as(subscriber.name)
          .isEqualTo(Faults.NONE);
    }
    for (Client client : traffic.clients()) {
      assertThat(client.cuts).as("cuts of " + client.name).hasValue(0);
      assertThat(client.moves).as("moves of " + client.name).hasSizeLessThanOrEqualTo(4);
      assertThat(client.moves).noneMatch(move -> move.startsWith("stays: "));
    }
  }

  /** Publishers come, each with a subscriber and a topic of its own. */
  private void come(SystemBus bus, int count) throws Exception {
    for (int i = 0; i < count; i++) {
      String topic = "fill." + ++pairs;
      traffic.subscriber(bus, "subscriber of " + topic, topic);
      traffic.publisher(bus, topic, RATE);
    }
    traffic.start(1);
  }

  private void awaitFirstMove(SystemBus to) {
    SystemCluster.await(() -> clients(to) > 0, () -> "nobody has gone to " + to.name());
  }

  /** Waits until no bus has too much to do, as each sees it, for a while. */
  private void settle(String what) {
    long begun = System.nanoTime();
    long[] calmSince = {0};
    SystemCluster.await(
        () -> {
          boolean calm = cluster.buses().stream().noneMatch(FillingUpSystemIT::isOverloaded);
          long now = System.nanoTime();
          calmSince[0] = !calm ? 0 : calmSince[0] == 0 ? now : calmSince[0];
          return calm && now - calmSince[0] > TimeUnit.SECONDS.toNanos(6);
        },
        () -> "there is still too much to do: " + loads());
    System.out.printf(
        "filling up: %s, calm after %d ms: %s%n",
        what, TimeUnit.NANOSECONDS.toMillis(calmSince[0] - begun), loads());
  }

  private static boolean isOverloaded(SystemBus bus) {
    JsonNode balance = bus.get("/api/v1/balance");
    return balance.path("overloaded").asBoolean() || balance.path("load").asDouble(1) > HIGH;
  }

  private static int clients(SystemBus bus) {
    return (int) bus.metric("eventbus_connections");
  }

  private List<String> loads() {
    List<String> all = new ArrayList<>();
    for (SystemBus bus : cluster.buses()) {
      all.add(
          String.format(
              "%s %d clients, load %.2f",
              bus.name(), clients(bus), bus.get("/api/v1/balance").path("load").asDouble()));
    }
    return all;
  }
}
