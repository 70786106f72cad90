package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.client.EventBusClient;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Buses in one process that form clusters over loopback. */
@Timeout(120)
class ClusterIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<BusServer> buses = new ArrayList<>();
  private final Path root;

  ClusterIT(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void close() {
    TestBus.closeAll(buses);
  }

  private BusServer start(String name, String... settings) throws IOException {
    List<String> all = new ArrayList<>(List.of("listen.event-loops", "1"));
    all.addAll(Arrays.asList(settings));
    BusServer bus = TestBus.startMember(root, name, all.toArray(new String[0]));
    buses.add(bus);
    return bus;
  }

  private static String joinOf(BusServer... others) {
    return String.join(",", Arrays.stream(others).map(b -> "127.0.0.1:" + b.linkPort()).toList());
  }

  private JsonNode ready(BusServer bus) {
    try {
      HttpResponse<String> answer =
          http.send(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bus.adminPort() + "/readyz"))
                  .timeout(Duration.ofSeconds(5))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      return JSON.readTree(answer.body());
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private void await(BusServer bus, Predicate<JsonNode> condition) throws InterruptedException {
    WatchedBus.await(() -> condition.test(ready(bus)), () -> ready(bus).toString());
  }

  private void awaitUp(BusServer bus) throws InterruptedException {
    await(
        bus,
        ready ->
            ready.path("state").asText().equals("UP")
                && ready.path("registry").path("state").asText().equals("UP"));
  }

  @Test
  void threeBusesFormAClusterAndTellClientsOfEachOther() throws Exception {
    BusServer a = start("bus-a");
    BusServer b = start("bus-b", "cluster.join", joinOf(a));
    BusServer c = start("bus-c", "cluster.join", joinOf(a, b));
    for (BusServer bus : buses) {
      awaitUp(bus);
    }
    String cluster = ready(a).path("registry").path("clusterId").asText();
    assertThat(cluster).isNotEmpty();
    assertThat(ready(c).path("registry").path("clusterId").asText()).isEqualTo(cluster);
    await(c, ready -> ready.path("registry").path("role").asText().equals("VOTER"));
    WatchedBus.await(
        () -> others(b).equals(List.of(c.uri().toString(), a.uri().toString())),
        () -> others(b).toString());
  }

  /** Returns the other buses that a bus names to a new client. */
  private static List<String> others(BusServer bus) {
    try (RawClient client = RawClient.tcp(bus.uri())) {
      client.upgrade("/bus", "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n");
      return client.hello(null).getOthers().stream().map(Object::toString).toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aBusThatLeavesSaysSo() throws Exception {
    // Long enough that no bus is given up because of its silence.
    BusServer a = start("bus-a", "cluster.lease", "10m");
    BusServer b = start("bus-b", "cluster.lease", "10m", "cluster.join", joinOf(a));
    BusServer c = start("bus-c", "cluster.lease", "10m", "cluster.join", joinOf(a, b));
    for (BusServer bus : buses) {
      awaitUp(bus);
    }
    await(c, ready -> ready.path("registry").path("role").asText().equals("VOTER"));
    a.close();
    await(b, ready -> !ready.path("registry").path("leader").isNull());
    assertThat(ready(b).path("registry").path("leader").asText()).isNotEqualTo("bus-a");
    WatchedBus.await(
        () -> others(b).equals(List.of(c.uri().toString())), () -> others(b).toString());
  }

  @Test
  void clientsAreServedWithoutAMajority() throws Exception {
    BusServer a = start("bus-a", "cluster.leave", "0");
    BusServer b = start("bus-b", "cluster.join", joinOf(a), "cluster.leave", "0");
    awaitUp(b);
    await(b, ready -> ready.path("registry").path("role").asText().equals("VOTER"));
    a.close();
    await(b, ready -> ready.path("registry").path("leader").isNull());
    assertThat(ready(b).path("state").asText()).isEqualTo("UP");
    echo(b);
    int port = b.linkPort();
    b.close();
    // Again, with no other bus: it takes clients, and reports what it waits for.
    BusServer again =
        start("bus-b", "cluster.join", joinOf(a), "cluster.port", Integer.toString(port));
    JsonNode waiting = ready(again);
    assertThat(waiting.path("state").asText()).isEqualTo("STARTING");
    assertThat(waiting.path("reasons").toString()).contains("majority of the voters");
    echo(again);
  }

  private static void echo(BusServer bus) throws Exception {
    CompletableFuture<String> heard = new CompletableFuture<>();
    try (EventBusClient client = EventBusClient.builder().url(bus.uri().toString()).connect()) {
      client
          .subscribe("t", event -> heard.complete(event.text()))
          .ready()
          .toCompletableFuture()
          .get(60, TimeUnit.SECONDS);
      client.publish("t", "heard").toCompletableFuture().get(60, TimeUnit.SECONDS);
      assertThat(heard.get(60, TimeUnit.SECONDS)).isEqualTo("heard");
    }
  }

  @Test
  void aBusThatDoesNotBelongIsToldWhy() throws Exception {
    BusServer a = start("bus-a");
    assertThatThrownBy(() -> start("bus-x", "cluster.join", joinOf(a), "cluster.id", "other"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("name of the cluster: other (expected: eventbus)");
    assertThatThrownBy(
            () ->
                start(
                    "bus-y",
                    "cluster.join",
                    joinOf(a),
                    "cluster.secret",
                    "another-secret-for-tests"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("the proof of the shared secret is wrong");
    assertThatThrownBy(() -> start("bus-a2", "cluster.directory", root.resolve("bus-a").toString()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("belongs to the bus bus-a (expected: bus.name, bus-a2)");
    assertThatThrownBy(() -> start("bus-a", "cluster.directory", root.resolve("bus-a").toString()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("another process uses it");
    BusServer founder = start("bus-z");
    assertThatThrownBy(() -> start("bus-w", "cluster.join", joinOf(a, founder)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("the seeds belong to different clusters");
  }

  @Test
  void aDamagedDirectoryIsRefusedAndLeftAlone() throws Exception {
    BusServer a = start("bus-a");
    awaitUp(a);
    a.close();
    Path marker = root.resolve("bus-a/registry/registry.marker");
    byte[] before = Files.readAllBytes(marker);
    byte[] damaged = before.clone();
    damaged[30]++;
    Files.write(marker, damaged);
    assertThatThrownBy(() -> start("bus-a"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is damaged");
    assertThat(Files.readAllBytes(marker)).isEqualTo(damaged);
    Files.write(marker, before);
    awaitUp(start("bus-a"));
  }

  @Test
  void aBusThatWasGivenNoNameKeepsItsOwn() throws Exception {
    String directory = root.resolve("unnamed").toString();
    BusServer first = start("", "cluster.directory", directory);
    awaitUp(first);
    first.close();
    BusServer second = start("", "cluster.directory", directory);
    assertThat(second.name()).isEqualTo(first.name());
    awaitUp(second);
  }

  @Test
  @Tag("nightly")
  void aClusterMaySpeakTls() throws Exception {
    try (TestCertificate certificate = TestCertificate.make()) {
      // Signed by itself, it is the authority too.
      String[] tls = {
        "cluster.secret",
        "",
        "cluster.tls-certificate",
        certificate.certificatePem().toString(),
        "cluster.tls-key",
        certificate.keyPem().toString(),
        "cluster.tls-ca",
        certificate.certificatePem().toString()
      };
      BusServer a = start("bus-a", tls);
      List<String> join = new ArrayList<>(Arrays.asList(tls));
      join.addAll(List.of("cluster.join", joinOf(a)));
      awaitUp(start("bus-b", join.toArray(new String[0])));
      BusServer open = start("bus-x", "cluster.join", joinOf(a));
      assertThat(ready(open).path("state").asText()).isEqualTo("STARTING");
    }
  }

  @Test
  @Tag("nightly")
  void busesFindEachOtherOnTheNetwork() throws Exception {
    String port;
    try (DatagramSocket free = new DatagramSocket(0)) {
      port = Integer.toString(free.getLocalPort());
    }
    String[] search = {
      "cluster.discover",
      "true",
      "cluster.discovery-port",
      port,
      "cluster.founders",
      "3",
      "cluster.discovery-interface",
      "127.0.0.1"
    };
    BusServer a = start("bus-a", search);
    BusServer b = start("bus-b", search);
    assertThat(ready(b).path("state").asText()).isEqualTo("STARTING");
    // A bus with another secret is not heard, and does not hear; nor is one of another cluster.
    String[] stranger = Arrays.copyOf(search, search.length + 2);
    stranger[search.length] = "cluster.secret";
    stranger[search.length + 1] = "another-secret-for-tests";
    BusServer x = start("bus-x", stranger);
    BusServer c = start("bus-c", search);
    for (BusServer bus : List.of(a, b, c)) {
      awaitUp(bus);
    }
    assertThat(ready(a).path("registry").path("clusterId").asText())
        .isEqualTo(ready(c).path("registry").path("clusterId").asText());
    assertThat(ready(x).path("reasons").toString()).contains("1 of 3 (cluster.founders)");
    // A late one joins those that are there.
    search[5] = "1";
    BusServer d = start("bus-d", search);
    awaitUp(d);
    assertThat(ready(d).path("registry").path("clusterId").asText())
        .isEqualTo(ready(a).path("registry").path("clusterId").asText());
  }

  @Test
  void aFoundingBusReportsThatItWaits() throws Exception {
    BusServer a = start("bus-a", "cluster.founders", "2");
    assertThat(ready(a).path("state").asText()).isEqualTo("STARTING");
    assertThat(ready(a).path("reasons").toString())
        .contains("1 of 2 (cluster.founders) have been found");
    // The one with the lowest id founds.
    BusServer founder = start("bus-0", "cluster.join", joinOf(a), "cluster.founders", "2");
    awaitUp(founder);
    awaitUp(a);
  }
}
