package io.eventbus.server.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.registry.AdministrationRefusedException;
import io.eventbus.registry.Backup;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryTimeoutException;
import io.eventbus.registry.RegistryUnavailableException;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.codec.BackupFormat;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.config.AdminAccessConfig;
import io.eventbus.server.config.AdminConfig;
import io.eventbus.server.security.PermissionPolicy;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Registry under {@code /api/v1/registry}. */
@Timeout(180)
class RegistryApiTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private final FakeBus bus = new FakeBus(0);
  private final FakeAdministration registry = bus.cluster.administration;
  private final AdminServer server;
  private final HttpClient client = HttpClient.newHttpClient();

  RegistryApiTest() throws Exception {
    bus.cluster.start().toCompletableFuture().get(60, TimeUnit.SECONDS);
    server =
        AdminServer.start(
            new AdminConfig(true, "127.0.0.1", 0, List.of(), AdminAccessConfig.open()),
            bus::health,
            new Advisories(),
            100);
    server.serve(bus, List.of(), PermissionPolicy.NOTHING);
  }

  @AfterEach
  void stop() {
    registry.gate.complete(null);
    server.close();
    bus.cluster.close();
  }

  private HttpRequest request(String method, String path) {
    return HttpRequest.newBuilder(
            URI.create("http://127.0.0.1:" + server.port() + "/api/v1/registry" + path))
        .timeout(DEADLINE)
        .method(method, HttpRequest.BodyPublishers.noBody())
        .build();
  }

  private HttpResponse<String> send(String method, String path)
      throws IOException, InterruptedException {
    return client.send(request(method, path), HttpResponse.BodyHandlers.ofString());
  }

  private JsonNode get(String path) throws IOException, InterruptedException {
    HttpResponse<String> response = send("GET", path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return new ObjectMapper().readTree(response.body());
  }

  private void create(String topic) throws Exception {
    bus.cluster
        .submit(new TopicCommand.Create(new TopicSpec(topic, Map.of())), DEADLINE)
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
  }

  @Test
  void statusHasTheUnitsInTheNames() throws Exception {
    JsonNode json = get("");
    assertThat(json.path("role").asText()).isEqualTo("LEADER");
    assertThat(json.path("term").asLong()).isEqualTo(7);
    assertThat(json.path("log").path("applyLag").asLong()).isEqualTo(3);
    assertThat(json.path("log").path("bytes").asLong()).isEqualTo(8_388_608);
    assertThat(json.path("leaseAgeMillis").asLong()).isEqualTo(1_500);
    assertThat(json.path("commits").path("p50Millis").asDouble()).isEqualTo(2);
    assertThat(json.path("commits").path("p99Millis").asDouble()).isEqualTo(4);
  }

  @Test
  void membersAndLeaderAreListed() throws Exception {
    JsonNode members = get("/members");
    assertThat(members.path("items")).hasSize(2);
    assertThat(members.path("items").get(0).path("address").asText()).isEqualTo("127.0.0.1:8082");
    assertThat(members.path("items").get(1).path("state").asText()).isEqualTo("NONE");
    assertThat(members.path("next").isNull()).isTrue();
    assertThat(get("/leader").toString()).isEqualTo("{\"leader\":\"bus-a\",\"term\":7}");
    registry.leader = null;
    assertThat(get("/leader").path("leader").isNull()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "PUT, /leader/bus-b, transfer bus-b",
    "PUT, /voters/bus-b, promote bus-b instead of null",
    "PUT, /voters/bus-b?instead-of=bus-c, promote bus-b instead of bus-c",
    "DELETE, /voters/bus-b, demote bus-b",
    "DELETE, /members/bus-b, remove bus-b",
    "PUT, /members?address=[::1]:8082, add [::1]:8082",
    "PUT, /members?address=bus-n:8082, add bus-n:8082",
    "PUT, /snapshot, snapshot"
  })
  void requestedOperationsAreDone(String method, String path, String expected) throws Exception {
    HttpResponse<String> response = send(method, path.replace("[", "%5B").replace("]", "%5D"));
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    assertThat(registry.asked).containsExactly(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "PUT /leader/%3Cscript%3E",
        "PUT /voters/bus-b?instead-of=%20",
        "PUT /members?address=nowhere",
        "PUT /members?address=a:99999",
        "PUT /members",
        "DELETE /members/bus-b?force=true",
        "GET /changes?wait=5001",
        "GET /changes?after=x",
        "GET /members?limit=1"
      })
  void illegalRequestsAreRefusedAndNotRepeated(String request) throws Exception {
    String[] parts = request.split(" ", 2);
    HttpResponse<String> response = send(parts[0], parts[1]);
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).doesNotContain("script", "nowhere").contains("expected");
    assertThat(registry.asked).isEmpty();
  }

  @Test
  void requestsOfForeignPagesChangeNothing() throws Exception {
    for (String path : List.of("/leader/bus-b", "/voters/bus-b", "/snapshot", "/members")) {
      assertThat(send("POST", path).statusCode()).isEqualTo(405);
    }
    assertThat(send("OPTIONS", "/leader/bus-b").headers().map())
        .doesNotContainKey("access-control-allow-origin");
    assertThat(registry.asked).isEmpty();
  }

  private void failsWith(RegistryException failure, int status, String code) throws Exception {
    registry.failure = failure;
    HttpResponse<String> response = send("DELETE", "/members/bus-b");
    assertThat(response.statusCode()).isEqualTo(status);
    JsonNode error = new ObjectMapper().readTree(response.body()).path("error");
    assertThat(error.path("code").asText()).isEqualTo(code);
    assertThat(error.path("message").asText()).isEqualTo(failure.getMessage());
  }

  @Test
  void errorsSayWhatTheRegistrySays() throws Exception {
    failsWith(
        new AdministrationRefusedException("bus bus-b is UP (expected: DOWN)"), 409, "REFUSED");
    failsWith(new RegistryUnavailableException("no leader is known"), 503, "UNAVAILABLE");
    failsWith(new RegistryTimeoutException("no answer within 8 s", true), 504, "TIMEOUT");
  }

  @Test
  void threadsAreLeftWhenManyWaitForTheRegistry() throws Exception {
    registry.gate = new CompletableFuture<>();
    List<CompletableFuture<HttpResponse<String>>> waiting =
        List.of(
            client.sendAsync(request("PUT", "/snapshot"), HttpResponse.BodyHandlers.ofString()),
            client.sendAsync(request("PUT", "/snapshot"), HttpResponse.BodyHandlers.ofString()),
            client.sendAsync(request("PUT", "/snapshot"), HttpResponse.BodyHandlers.ofString()));
    HttpResponse<String> refused =
        CompletableFuture.anyOf(waiting.toArray(new CompletableFuture<?>[0]))
            .thenApply(
                any ->
                    waiting.stream()
                        .filter(CompletableFuture::isDone)
                        .findFirst()
                        .orElseThrow()
                        .join())
            .get(60, TimeUnit.SECONDS);
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(refused.body()).contains("BUSY");
    assertThat(registry.asked).as("what is refused is not begun").hasSizeLessThan(3);
    assertThat(get("/members").path("items")).hasSize(2);
    registry.gate.complete(null);
    for (CompletableFuture<HttpResponse<String>> each : waiting) {
      assertThat(each.get(60, TimeUnit.SECONDS).statusCode()).isIn(200, 503);
    }
  }

  @Test
  void watchersDelayNoOtherRequest() throws Exception {
    create("before");
    long version = get("/changes").path("version").asLong();
    HttpRequest watch = request("GET", "/changes?wait=5000&after=" + version);
    List<CompletableFuture<HttpResponse<String>>> watching = new ArrayList<>();
    // Exceeds the number that may wait by one: the last one is told so.
    for (int i = 0; i <= RegistryApi.MAX_WATCHERS; i++) {
      watching.add(client.sendAsync(watch, HttpResponse.BodyHandlers.ofString()));
    }
    CompletableFuture.anyOf(watching.toArray(new CompletableFuture<?>[0]))
        .get(60, TimeUnit.SECONDS);
    assertThat(send("PUT", "/snapshot").statusCode()).isEqualTo(200);
    create("after");
    List<Integer> codes = new ArrayList<>();
    for (CompletableFuture<HttpResponse<String>> each : watching) {
      codes.add(each.get(60, TimeUnit.SECONDS).statusCode());
    }
    assertThat(codes).containsExactlyInAnyOrder(200, 200, 200, 503);
  }

  @Test
  void changesAreToldFromAVersionOn() throws Exception {
    create("before");
    long version = get("/changes").path("version").asLong();
    assertThat(get("/changes?after=" + version).path("items")).isEmpty();
    CompletableFuture<HttpResponse<String>> waiting =
        client.sendAsync(
            request("GET", "/changes?wait=5000&after=" + version),
            HttpResponse.BodyHandlers.ofString());
    create("after");
    JsonNode told = new ObjectMapper().readTree(waiting.get(60, TimeUnit.SECONDS).body());
    assertThat(told.path("missed").asBoolean()).isFalse();
    assertThat(told.path("items")).hasSize(1);
    assertThat(told.path("items").get(0).path("change").asText())
        .startsWith("topic 'after': created");
    assertThat(told.path("version").asLong()).isEqualTo(version + 1);
    assertThat(get("/changes?after=" + (version + 1)).path("items")).isEmpty();
  }

  @Test
  void aReaderThatMissedChangesIsTold() throws Exception {
    create("before");
    long version = get("/changes").path("version").asLong();
    assertThat(get("/changes?after=" + (version - 1)).path("missed").asBoolean()).isTrue();
    assertThat(get("/changes?after=" + (version + 9)).path("missed").asBoolean()).isTrue();
    for (int i = 0; i < 1_010; i++) {
      create("t" + i);
    }
    assertThat(get("/changes?after=" + version).path("missed").asBoolean()).isTrue();
    assertThat(get("/changes?after=" + (version + 20)).path("items")).hasSize(990);
  }

  @Test
  void aBackupIsLoadedAndCanBeRead(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("registry.backup");
    HttpResponse<Path> response =
        client.send(request("GET", "/backup"), HttpResponse.BodyHandlers.ofFile(file));
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("Content-Type")).contains("application/octet-stream");
    assertThat(BackupFormat.read(file).description().bus()).isEqualTo("bus-a");
    assertThat(send("HEAD", "/backup").statusCode()).isEqualTo(200);
  }

  /** Backup that has no end. */
  private static final class Endless implements Backup {
    private final Backup described;
    final CompletableFuture<IOException> broken = new CompletableFuture<>();

    Endless(Backup described) {
      this.described = described;
    }

    @Override
    public Description description() {
      return described.description();
    }

    @Override
    public void writeTo(OutputStream out) throws IOException {
      byte[] piece = new byte[100_000];
      try {
        while (true) {
          out.write(piece);
        }
      } catch (IOException e) {
        broken.complete(e);
        throw e;
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.1", "1.0"})
  void aDownloadThatIsNotTakenBreaksOff(String version) throws Exception {
    Endless endless = new Endless(registry.backup);
    registry.backup = endless;
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.setSoTimeout((int) DEADLINE.toMillis());
      String request =
          "GET /api/v1/registry/backup HTTP/" + version + "\r\nHost: localhost\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      assertThat(endless.broken.get(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isNotNull();
      // Else it would be taken for whole.
      assertThatThrownBy(() -> socket.getInputStream().readAllBytes())
          .isInstanceOf(SocketException.class);
    }
    assertThat(get("/leader").path("term").isNumber()).isTrue();
  }
}
