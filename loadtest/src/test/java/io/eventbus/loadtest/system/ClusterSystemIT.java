package io.eventbus.loadtest.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.loadtest.driver.ServerProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three buses from the packaged jar, started at once as {@code docker-compose.yml} does: one list
 * for all, a secret from a file, settings from the environment. One is killed and comes back, one
 * is told to stop.
 */
class ClusterSystemIT {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final Path JAR = Path.of("..", "eventbus-server", "target", "eventbus.jar");
  private static final Pattern ADMIN =
      Pattern.compile("administration on http://127\\.0\\.0\\.1:(\\d+)");
  private static final int BUSES = 3;

  private final ObjectMapper json = new ObjectMapper();
  private final HttpClient http = HttpClient.newHttpClient();
  private final List<Bus> buses = new ArrayList<>();
  private final Path root;

  ClusterSystemIT(@TempDir Path root) {
    this.root = root;
  }

  /** A bus, which keeps its ports and its directory when it is started again. */
  private final class Bus {
    final String name;
    final int linkPort = freePort();
    private @Nullable ServerProcess started;
    int adminPort;

    Bus(int number) {
      name = "bus-" + number;
    }

    void start() {
      String join =
          buses.stream().map(b -> "localhost:" + b.linkPort).collect(Collectors.joining(","));
      started =
          ServerProcess.start(
              name,
              List.of(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx128m",
                  "-jar",
                  JAR.toString(),
                  "serve",
                  "--host",
                  "127.0.0.1",
                  "--port",
                  "0",
                  "--admin-port",
                  "0",
                  "--join",
                  join),
              Map.of(
                  "EVENTBUS_BUS_NAME",
                  name,
                  "EVENTBUS_CLUSTER_DIRECTORY",
                  root.resolve(name).toString(),
                  "EVENTBUS_CLUSTER_HOST",
                  "127.0.0.1",
                  "EVENTBUS_CLUSTER_PORT",
                  Integer.toString(linkPort),
                  "EVENTBUS_CLUSTER_SECRET_FILE",
                  root.resolve("secret").toString(),
                  "EVENTBUS_TIMEOUTS_SHUTDOWN",
                  "2s"));
    }

    ServerProcess process() {
      return Objects.requireNonNull(started, "started");
    }

    void close() {
      if (started != null) {
        started.close();
      }
    }

    void awaitListening() {
      adminPort = Integer.parseInt(process().awaitOutput(ADMIN, DEADLINE).group(1));
    }

    JsonNode registry() {
      return ready(this).path("registry");
    }

    ProcessHandle handle() {
      return ProcessHandle.of(process().pid()).orElseThrow();
    }
  }

  @AfterEach
  void close() {
    buses.forEach(Bus::close);
  }

  @Test
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void threeBusesFormAClusterLoseOneAndLetOneGo() throws Exception {
    assertThat(JAR).as("the packaged jar").exists();
    Files.writeString(root.resolve("secret"), "0123456789abcdef0123456789abcdef\n");
    for (int i = 1; i <= BUSES; i++) {
      buses.add(new Bus(i));
    }
    buses.forEach(Bus::start);
    buses.forEach(Bus::awaitListening);
    buses.forEach(this::awaitUp);
    Set<String> clusters = new HashSet<>();
    buses.forEach(bus -> clusters.add(bus.registry().path("clusterId").asText()));
    assertThat(clusters).hasSize(1);
    for (Bus bus : buses) {
      await(bus, r -> Set.of("LEADER", "VOTER").contains(r.path("role").asText()));
    }

    Bus killed = leader();
    killed.handle().destroyForcibly();
    killed.handle().onExit().get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    for (Bus bus : buses) {
      if (bus != killed) {
        await(bus, r -> !Set.of("", killed.name).contains(r.path("leader").asText("")));
        assertThat(ready(bus).path("state").asText()).isEqualTo("UP");
      }
    }
    killed.close();
    killed.start();
    killed.awaitListening();
    awaitUp(killed);
    assertThat(killed.registry().path("clusterId").asText()).isIn(clusters);

    Bus drained = leader();
    ProcessHandle ending = drained.handle();
    ending.destroy();
    ending.onExit().get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    assertThat(drained.process().tail()).contains("Stopped").doesNotContain("still leads");
    for (Bus bus : buses) {
      if (bus != drained) {
        await(bus, r -> !Set.of("", drained.name).contains(r.path("leader").asText("")));
        assertThat(ready(bus).path("state").asText()).isEqualTo("UP");
      }
    }
  }

  private Bus leader() {
    String name = buses.get(0).registry().path("leader").asText();
    return buses.stream().filter(bus -> bus.name.equals(name)).findFirst().orElseThrow();
  }

  private void awaitUp(Bus bus) {
    await(bus, r -> r.path("state").asText().equals("UP"));
    assertThat(ready(bus).path("state").asText()).isEqualTo("UP");
  }

  private void await(Bus bus, Predicate<JsonNode> condition) {
    long end = System.nanoTime() + DEADLINE.toNanos();
    while (!condition.test(bus.registry())) {
      assertThat(System.nanoTime()).as(ready(bus) + "\n" + bus.process().tail()).isLessThan(end);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }

  private JsonNode ready(Bus bus) {
    URI uri = URI.create("http://127.0.0.1:" + bus.adminPort + "/readyz");
    try {
      return json.readTree(
          http.send(
                  HttpRequest.newBuilder(uri).timeout(DEADLINE).build(),
                  HttpResponse.BodyHandlers.ofString())
              .body());
    } catch (IOException e) {
      throw new AssertionError(bus.name + " does not answer:\n" + bus.process().tail(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private static int freePort() {
    // Every bus has to know the others before they run, so the ports are chosen here.
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
