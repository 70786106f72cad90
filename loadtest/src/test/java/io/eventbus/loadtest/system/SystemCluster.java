package io.eventbus.loadtest.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Buses as processes that are one cluster. For one thread. */
final class SystemCluster implements AutoCloseable {
  private final List<SystemBus> buses = new ArrayList<>();

  /**
   * Prepares buses.
   *
   * @param root where their directories are to be
   * @param settings environment variables and their values, one after the other
   */
  SystemCluster(Path root, int count, String... settings) throws IOException {
    this(root, count, bus -> SystemBus.Place.HERE, settings);
  }

  /**
   * Prepares buses that run in different places.
   *
   * @param root where their directories are to be
   * @param places where each is, by numbers from 0
   * @param settings environment variables and their values, one after the other
   */
  SystemCluster(Path root, int count, IntFunction<SystemBus.Place> places, String... settings)
      throws IOException {
    Path secret = secret(root.resolve("secret"), "0123456789abcdef0123456789abcdef");
    Path token = secret(root.resolve("token"), SystemBus.ADMIN_TOKEN);
    for (int i = 1; i <= count; i++) {
      Map<String, String> variables = new HashMap<>();
      variables.put("EVENTBUS_CLUSTER_SECRET_FILE", secret.toString());
      variables.put("EVENTBUS_ADMIN_TOKEN_FILE", token.toString());
      variables.put("EVENTBUS_CLUSTER_DIRECTORY", root.resolve("bus-" + i).toString());
      variables.put("EVENTBUS_TIMEOUTS_SHUTDOWN", "2s");
      for (int s = 0; s < settings.length; s += 2) {
        variables.put(settings[s], settings[s + 1]);
      }
      buses.add(new SystemBus("bus-" + i, places.apply(i - 1), variables));
    }
  }

  /** Writes a file that only its owner may read. */
  private static Path secret(Path file, String content) throws IOException {
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    return Files.writeString(file, content + "\n");
  }

  /** Starts all at once, with the same list of addresses, as {@code docker-compose.yml} does. */
  SystemCluster start() {
    buses.forEach(bus -> bus.start(join()));
    buses.forEach(SystemBus::awaitListening);
    buses.forEach(SystemBus::awaitUp);
    return this;
  }

  /** Waits until every bus that is to be there forwards to every other one, and hears of it. */
  SystemCluster awaitWhole() {
    for (SystemBus bus : buses) {
      await(
          () -> lanes(bus) && heard(bus),
          () -> bus.name() + ": " + bus.get("/api/v1/buses") + "\n" + bus.tail());
    }
    return this;
  }

  private boolean lanes(SystemBus bus) {
    return bus.metric("eventbus_federation_lanes{state=\"down\"}") == 0
        && bus.metric("eventbus_federation_lanes{state=\"up\"}") >= buses.size() - 1;
  }

  private boolean heard(SystemBus bus) {
    JsonNode known = bus.get("/api/v1/buses").path("items");
    int heard = 0;
    for (JsonNode other : known) {
      if (other.path("state").asText().equals("UP") && other.path("clients").asLong(-1) >= 0) {
        heard++;
      }
    }
    return heard == buses.size();
  }

  String join() {
    return buses.stream().map(SystemBus::link).collect(Collectors.joining(","));
  }

  SystemBus bus(int i) {
    return buses.get(i);
  }

  List<SystemBus> buses() {
    return buses;
  }

  /** Starts one again that has ended. */
  void restart(SystemBus bus) {
    bus.close();
    bus.start(join());
    bus.awaitListening();
    bus.awaitUp();
  }

  /** Starts again what has ended, and waits until the cluster is whole and none of it drains. */
  void repair() {
    for (SystemBus bus : buses) {
      if (!bus.isAlive()) {
        restart(bus);
      }
      bus.ask("DELETE", "/api/v1/drains/" + bus.name());
    }
    awaitWhole();
  }

  /** Asks for a client to go from one bus to another, as {@code eventbus move} does. */
  void move(String client, SystemBus from, SystemBus to) {
    for (JsonNode connection : from.get("/api/v1/connections").path("items")) {
      if (connection.path("client").asText().equals(client)) {
        JsonNode told =
            from.ask("PUT", "/api/v1/moves/" + connection.path("id").asText() + "?to=" + to.name());
        assertThat(told.path("bus").asText()).as(told.toString()).isEqualTo(to.name());
        return;
      }
    }
    throw new AssertionError(client + " is not at " + from.name());
  }

  static void await(BooleanSupplier condition, Supplier<String> otherwise) {
    long end = System.nanoTime() + SystemBus.DEADLINE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError(otherwise.get());
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  /** Ends all at the same time. */
  @Override
  public void close() {
    buses.parallelStream().forEach(SystemBus::close);
  }
}
