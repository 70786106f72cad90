package io.eventbus.it;

import io.eventbus.client.EventBusClient;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Buses of one cluster, in this process, and their clients. */
final class FederatedBuses implements AutoCloseable {
  private final HttpClient http = HttpClient.newHttpClient();
  private final Path root;
  private final List<BusServer> buses = new ArrayList<>();
  private final List<EventBusClient> clients = new ArrayList<>();

  FederatedBuses(Path root) {
    this.root = root;
  }

  /** Starts buses one after the other and waits until each has its lanes to all others. */
  static FederatedBuses start(Path root, int count, String... settings) throws IOException {
    FederatedBuses cluster = new FederatedBuses(root);
    try {
      for (int i = 0; i < count; i++) {
        cluster.add(settings);
      }
      cluster.awaitLanes();
      return cluster;
    } catch (IOException | RuntimeException | Error e) {
      cluster.close();
      throw e;
    }
  }

  BusServer add(String... settings) throws IOException {
    String name = "bus-" + (char) ('a' + buses.size());
    // Other tests show how a bus leaves the registry.
    List<String> all = new ArrayList<>(List.of("cluster.leave", "0s"));
    if (!buses.isEmpty()) {
      all.add("cluster.join");
      all.add("127.0.0.1:" + buses.get(0).linkPort());
    }
    all.addAll(Arrays.asList(settings));
    BusServer bus = TestBus.startMember(root, name, all.toArray(new String[0]));
    buses.add(bus);
    return bus;
  }

  void awaitLanes() {
    for (BusServer bus : buses) {
      awaitLanes(bus, 2 * (buses.size() - 1));
    }
  }

  void awaitLanes(BusServer bus, int count) {
    awaitMetric(bus, "eventbus_federation_lanes{state=\"up\"}", count);
  }

  void awaitMetric(BusServer bus, String sample, double value) {
    WatchedBus.await(
        () -> metric(bus, sample) == value,
        () ->
            bus.name() + ", " + sample + ": " + metric(bus, sample) + " (expected: " + value + ")");
  }

  BusServer bus(int i) {
    return buses.get(i);
  }

  int size() {
    return buses.size();
  }

  EventBusClient client(int bus) {
    return client(buses.get(bus).uri());
  }

  EventBusClient client(URI uri) {
    EventBusClient client = EventBusClient.builder().url(uri).connect();
    clients.add(client);
    return client;
  }

  double metric(BusServer bus, String sample) {
    try {
      String page =
          http.send(
                  HttpRequest.newBuilder(
                          URI.create("http://127.0.0.1:" + bus.adminPort() + "/metrics"))
                      .timeout(Duration.ofSeconds(5))
                      .build(),
                  HttpResponse.BodyHandlers.ofString())
              .body();
      Matcher found =
          Pattern.compile("^" + Pattern.quote(sample) + " (\\S+)$", Pattern.MULTILINE)
              .matcher(page);
      return found.find() ? Double.parseDouble(found.group(1)) : Double.NaN;
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  void closeClients() {
    clients.forEach(client -> client.close(Duration.ZERO));
    clients.clear();
  }

  @Override
  public void close() {
    closeClients();
    TestBus.closeAll(buses);
  }
}
