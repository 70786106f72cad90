package io.eventbus.conformance.live;

import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A single bus, or a cluster of several; any thread. */
public final class LiveCluster implements AutoCloseable {
  private static final Duration START = Duration.ofSeconds(60);

  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
  private final Path directory;
  private final List<BusServer> buses = new ArrayList<>();

  private LiveCluster(Path directory) {
    this.directory = directory;
  }

  /**
   * Starts buses and waits until they know each other.
   *
   * @throws UncheckedIOException if they do not start
   */
  public static LiveCluster start(int count) {
    try {
      LiveCluster cluster = new LiveCluster(Files.createTempDirectory("eventbus-conformance"));
      try {
        cluster.startBuses(count);
        return cluster;
      } catch (IOException | RuntimeException e) {
        cluster.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the buses do not start", e);
    }
  }

  private void startBuses(int count) throws IOException {
    byte[] secret = new byte[32];
    new SecureRandom().nextBytes(secret);
    Path key = directory.resolve("resume-key");
    Files.writeString(key, HexFormat.of().formatHex(secret), StandardCharsets.UTF_8);
    for (int i = 0; i < count; i++) {
      Map<String, String> settings = new HashMap<>();
      settings.put("listen.host", "127.0.0.1");
      settings.put("listen.port", "0");
      settings.put("listen.event-loops", "2");
      // A testee may be a page in a browser, which has an origin of its own.
      settings.put("listen.allowed-origins", "*");
      settings.put("admin.port", "0");
      settings.put("auth.resume-key-file", key.toString());
      settings.put("timeouts.shutdown", "1s");
      if (count > 1) {
        String name = "bus-" + (char) ('a' + i);
        settings.put("bus.name", name);
        settings.put("cluster.port", "0");
        settings.put("cluster.host", "127.0.0.1");
        settings.put("cluster.secret", HexFormat.of().formatHex(secret));
        settings.put("cluster.directory", directory.resolve(name).toString());
        settings.put("cluster.leave", "0s");
        settings.put("balance.drain-timeout", "0s");
        if (i > 0) {
          settings.put("cluster.join", "127.0.0.1:" + buses.get(0).linkPort());
        }
      }
      buses.add(BusServer.start(ServerConfig.of(settings)));
    }
    for (BusServer bus : buses) {
      awaitLanes(bus, 2 * (count - 1));
    }
  }

  private void awaitLanes(BusServer bus, int lanes) throws IOException {
    String wanted = "eventbus_federation_lanes{state=\"up\"} " + lanes + ".0";
    long end = System.nanoTime() + START.toNanos();
    while (lanes > 0 && !call(bus, "GET", "/metrics").contains(wanted)) {
      if (System.nanoTime() - end > 0) {
        throw new IOException(bus.name() + " has no lanes to the others after " + START);
      }
      LockSupport.parkNanos(20_000_000);
    }
  }

  private String call(BusServer bus, String method, String path) throws IOException {
    try {
      HttpResponse<String> answer =
          http.send(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bus.adminPort() + path))
                  .method(method, HttpRequest.BodyPublishers.noBody())
                  .timeout(Duration.ofSeconds(5))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() >= 300) {
        throw new IOException(method + " " + path + ": " + answer.statusCode());
      }
      return answer.body();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /**
   * Drains a bus, or lets it accept clients again.
   *
   * @param bus which, from 0
   * @throws IOException if the request fails
   */
  public void drain(int bus, boolean drain) throws IOException {
    BusServer server = buses.get(bus);
    call(server, drain ? "PUT" : "DELETE", "/api/v1/drains/" + server.name());
  }

  /**
   * Returns the port of a bus.
   *
   * @param bus which, from 0
   */
  public int port(int bus) {
    return buses.get(bus).port();
  }

  /**
   * Returns the number of buses.
   *
   * @return at least 1
   */
  public int size() {
    return buses.size();
  }

  @Override
  public void close() {
    CompletableFuture<?>[] closing =
        buses.stream()
            .map(bus -> CompletableFuture.runAsync(bus::close, task -> new Thread(task).start()))
            .toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(closing).orTimeout(60, TimeUnit.SECONDS).join();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      // The rest stays in the system's directory for temporary files.
    }
  }
}
