package io.eventbus.server.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.config.AdminAccessConfig;
import io.eventbus.server.config.AdminAuth;
import io.eventbus.server.config.AdminConfig;
import io.eventbus.server.security.PermissionPolicy;
import io.eventbus.server.view.BusHealth;
import io.eventbus.testing.TestPorts;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class AdminServerTest {
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final int MAX_CONNECTIONS = 200;

  private final FakeBus bus = new FakeBus(25);
  private final AdminServer server;
  private final HttpClient client = HttpClient.newHttpClient();

  AdminServerTest() throws IOException {
    server =
        AdminServer.start(
            new AdminConfig(true, "127.0.0.1", 0, List.of("bus.example"), AdminAccessConfig.open()),
            bus::health,
            new Advisories(),
            MAX_CONNECTIONS);
    server.serve(bus, List.of(), PermissionPolicy.NOTHING);
  }

  @AfterEach
  void stop() {
    server.close();
    server.close();
  }

  @Test
  void healthIsAboutTheProcessReadinessAboutNewClients() throws Exception {
    assertThat(get("/healthz").statusCode()).isEqualTo(200);
    assertThat(get("/readyz").body())
        .startsWith("{\"state\":\"UP\",\"reasons\":[],\"registry\":{\"phase\":\"MEMBER\",");
    bus.health = BusHealth.of(BusHealth.State.DRAINING, "stopping", FakeBus.ALONE);
    assertThat(get("/healthz").statusCode()).isEqualTo(200);
    assertThat(get("/readyz").statusCode()).isEqualTo(503);
    assertThat(get("/readyz").body()).contains("DRAINING", "stopping");
    bus.health = BusHealth.of(BusHealth.State.FAILED, "no memory", FakeBus.ALONE);
    assertThat(get("/healthz").statusCode()).isEqualTo(503);
  }

  @Test
  void aBusThatStartsIsAliveAndNotReady() throws Exception {
    BusHealth starting = BusHealth.of(BusHealth.State.STARTING, "loads", FakeBus.ALONE);
    AdminConfig config = new AdminConfig(true, "127.0.0.1", 0, List.of(), AdminAccessConfig.open());
    try (AdminServer early = AdminServer.start(config, () -> starting, new Advisories(), 100)) {
      URI uri = URI.create("http://127.0.0.1:" + early.port());
      assertThat(send("GET", uri.resolve("/healthz")).statusCode()).isEqualTo(200);
      HttpResponse<String> ready = send("GET", uri.resolve("/readyz"));
      assertThat(ready.statusCode()).isEqualTo(503);
      assertThat(ready.body()).contains("STARTING", "loads");
      for (String path : List.of("/", "/metrics", "/api/v1/bus", "/nothing")) {
        HttpResponse<String> other = send("GET", uri.resolve(path));
        assertThat(other.statusCode()).isEqualTo(503);
        assertThat(json(other).path("error").path("code").asText()).isEqualTo("STARTING");
      }
      early.serve(bus, List.of(), PermissionPolicy.NOTHING);
      assertThat(send("GET", uri.resolve("/readyz")).statusCode()).isEqualTo(200);
      assertThat(send("GET", uri.resolve("/nothing")).statusCode()).isEqualTo(404);
    }
  }

  @Test
  void aPortThatIsInUseIsNamed() {
    AdminConfig taken =
        new AdminConfig(true, "127.0.0.1", server.port(), List.of(), AdminAccessConfig.open());
    BusHealth starting = BusHealth.of(BusHealth.State.STARTING, "loads", FakeBus.ALONE);
    assertThatIOException()
        .isThrownBy(() -> AdminServer.start(taken, () -> starting, new Advisories(), 100).close())
        .withMessageContaining("cannot listen on 127.0.0.1:" + server.port() + ": ")
        .withMessageContaining("admin.port");
  }

  /** The healthcheck of the image asks whether the process lives, also while it drains. */
  @ParameterizedTest
  @CsvSource({"DRAINING, 0", "STARTING, 0", "UP, 0", "FAILED, 1"})
  void theImagesHealthcheckIsAboutTheProcess(BusHealth.State state, int exit) throws Exception {
    bus.health = BusHealth.of(state, "on purpose", FakeBus.ALONE);
    assertThat(healthcheck(server.port(), Map.of())).isEqualTo(exit);
  }

  /** The healthcheck cannot speak TLS: then it checks only for a listener. */
  @Test
  void theImagesHealthcheckKnowsOtherPortsAndTls() throws Exception {
    bus.health = BusHealth.of(BusHealth.State.FAILED, "on purpose", FakeBus.ALONE);
    Map<String, String> tls = Map.of("EVENTBUS_ADMIN_TLS_CERTIFICATE", "/cert.pem");
    assertThat(healthcheck(server.port(), tls)).isZero();
    int closed = TestPorts.find();
    assertThat(healthcheck(closed, Map.of())).isEqualTo(1);
    assertThat(healthcheck(closed, tls)).isEqualTo(1);
  }

  private static int healthcheck(int port, Map<String, String> more) throws Exception {
    String line =
        Files.readAllLines(Path.of("..", "Dockerfile")).stream()
            .filter(text -> text.startsWith("HEALTHCHECK "))
            .findFirst()
            .orElseThrow();
    List<String> command =
        new ObjectMapper()
            .readValue(line.substring(line.indexOf("CMD ") + 4), new TypeReference<>() {});
    ProcessBuilder check = new ProcessBuilder(command);
    check.environment().put("EVENTBUS_ADMIN_PORT", Integer.toString(port));
    check.environment().putAll(more);
    Process running = check.start();
    assertThat(running.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return running.exitValue();
  }

  @Test
  void thePortIsFreeAtOnceWhenTheServerIsClosed() throws Exception {
    BusHealth starting = BusHealth.of(BusHealth.State.STARTING, "loads", FakeBus.ALONE);
    AdminConfig any = new AdminConfig(true, "127.0.0.1", 0, List.of(), AdminAccessConfig.open());
    int port;
    try (AdminServer first = AdminServer.start(any, () -> starting, new Advisories(), 100)) {
      port = first.port();
    }
    AdminConfig same =
        new AdminConfig(true, "127.0.0.1", port, List.of(), AdminAccessConfig.open());
    for (int i = 0; i < 10; i++) {
      AdminServer.start(same, () -> starting, new Advisories(), 100).close();
    }
  }

  @Test
  void busIsDescribed() throws Exception {
    HttpResponse<String> response = get("/api/v1/bus");
    assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
    assertThat(response.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
    JsonNode json = json(response);
    assertThat(json.path("name").asText()).isEqualTo("bus-1");
    assertThat(json.path("startedAt").asText()).isEqualTo("2026-01-02T03:04:05Z");
  }

  @Test
  void indexNamesEveryResource() throws Exception {
    assertThat(json(get("/")).path("resources").toString())
        .contains("GET /metrics", "DELETE /api/v1/connections/{id}");
  }

  @Test
  void theLoadOfTheBusesIsShown() throws Exception {
    JsonNode items = json(get("/api/v1/buses")).path("items");
    assertThat(items.size()).isEqualTo(2);
    assertThat(items.get(0).path("bus").asText()).isEqualTo("bus-1");
    assertThat(items.get(0).path("load").asDouble()).isEqualTo(0.5);
    assertThat(json(get("/api/v1/balance")).path("moved").asLong()).isEqualTo(2);
  }

  @Test
  void aBusIsDrainedAndTakenBack() throws Exception {
    assertThat(send("PUT", "/api/v1/drains/bus-2").statusCode()).isEqualTo(202);
    assertThat(send("DELETE", "/api/v1/drains/bus-2").statusCode()).isEqualTo(202);
    assertThat(send("PUT", "/api/v1/drains/nobody").statusCode()).isEqualTo(404);
    assertThat(bus.balance.asked).containsExactly("drain bus-2", "undrain bus-2");
  }

  @Test
  void aClientIsMoved() throws Exception {
    HttpResponse<String> response = send("PUT", "/api/v1/moves/7?to=bus-2");
    assertThat(response.statusCode()).isEqualTo(202);
    assertThat(json(response).path("bus").asText()).isEqualTo("bus-2");
    assertThat(send("PUT", "/api/v1/moves/8").statusCode()).isEqualTo(202);
    assertThat(send("PUT", "/api/v1/moves/13").statusCode()).isEqualTo(409);
    assertThat(send("PUT", "/api/v1/moves/x").statusCode()).isEqualTo(400);
    assertThat(bus.balance.asked).containsExactly("move 7 to bus-2", "move 8 to ");
  }

  @Test
  void aServiceIsShownWithItsMembers() throws Exception {
    JsonNode service = json(get("/api/v1/services/orders.v2"));
    assertThat(service.path("service").path("name").asText()).isEqualTo("orders.v2");
    JsonNode member = service.path("members").path(0);
    assertThat(member.path("client").asText()).isEqualTo("worker");
    assertThat(member.path("metadata").path("zone").asText()).isEqualTo("eu");
    assertThat(send("GET", "/api/v1/services/nobody").statusCode()).isEqualTo(404);
  }

  @Test
  void aMemberIsTakenOutOfAService() throws Exception {
    assertThat(send("PUT", "/api/v1/services/orders/members/5/drain").statusCode()).isEqualTo(202);
    assertThat(send("PUT", "/api/v1/services/orders/members/6/drain").statusCode()).isEqualTo(404);
    assertThat(send("PUT", "/api/v1/services/orders/members/x/drain").statusCode()).isEqualTo(400);
    assertThat(send("PUT", "/api/v1/services/orders/members//drain").statusCode()).isEqualTo(404);
    assertThat(send("GET", "/api/v1/services/orders/members/5/drain").statusCode()).isEqualTo(405);
  }

  @Test
  void theSlowestCallsAreShown() throws Exception {
    JsonNode call = json(get("/api/v1/calls?limit=5")).path("items").path(0);
    assertThat(call.path("caller").asText()).isEqualTo(Long.toString(Long.MAX_VALUE));
    assertThat(call.path("state").asText()).isEqualTo("DISPATCHED");
    assertThat(call.path("ageMillis").asLong()).isEqualTo(1_500);
    assertThat(send("GET", "/api/v1/calls?limit=0").statusCode()).isEqualTo(400);
  }

  @ParameterizedTest
  @CsvSource({
    "/api/v1/connections, 25, 10",
    "/api/v1/connections, 25, 25",
    "/api/v1/accounts, 3, 2",
    "/api/v1/topics, 5, 2",
    "/api/v1/services, 3, 2",
    "/api/v1/subscriptions, 50, 7",
    "/api/v1/quotas, 2, 1"
  })
  void listsComeInPages(String path, int total, int limit) throws Exception {
    List<String> items = new ArrayList<>();
    String next = path + "?limit=" + limit;
    int pages = 0;
    while (next != null) {
      JsonNode page = json(get(next));
      assertThat(page.path("items").size()).isBetween(1, limit);
      page.path("items").forEach(item -> items.add(item.toString()));
      next = page.path("next").isNull() ? null : page.path("next").asText();
      pages++;
    }
    assertThat(items).hasSize(total).doesNotHaveDuplicates();
    assertThat(pages).isEqualTo((total + limit - 1) / limit);
  }

  @ParameterizedTest
  @CsvSource({
    "/api/v1/connections, 5, 20",
    "/api/v1/subscriptions, 10, 40",
    "/api/v1/topics, 5, 5",
    "/api/v1/services, 0, 3"
  })
  void listsAreOfOneAccount(String path, int ofOne, int ofDefault) throws Exception {
    assertThat(count(path + "?limit=2&account=b%26b")).isEqualTo(ofOne);
    assertThat(count(path + "?limit=2&account=")).isEqualTo(ofDefault);
  }

  private int count(String path) throws Exception {
    int count = 0;
    for (String next = path; next != null; ) {
      JsonNode page = json(get(next));
      count += page.path("items").size();
      next = page.path("next").isNull() ? null : page.path("next").asText();
    }
    return count;
  }

  @Test
  void aServiceIsThatOfAnAccount() throws Exception {
    assertThat(get("/api/v1/services/orders?account=").statusCode()).isEqualTo(200);
    assertThat(get("/api/v1/services/orders?account=acme").statusCode()).isEqualTo(404);
  }

  @Test
  void quotasOfAnIdentityAndOfAnAccountAreFound() throws Exception {
    JsonNode identity = json(get("/api/v1/quotas?account=acme&subject=u1")).path("items");
    assertThat(identity).hasSize(1);
    assertThat(identity.get(0).path("subject").asText()).isEqualTo("u1");
    JsonNode rate = identity.get(0).path("quotas").get(1);
    assertThat(rate.path("quota").asText()).isEqualTo("publish-events");
    assertThat(rate.path("limit").asLong()).isEqualTo(100);
    assertThat(rate.path("used").isNull()).isTrue();
    assertThat(rate.path("reached").asLong()).isEqualTo(5);
    JsonNode account = json(get("/api/v1/quotas?account=acme")).path("items");
    assertThat(account.get(0).path("subject").isNull()).isTrue();
    assertThat(json(get("/api/v1/quotas?account=none")).path("items")).isEmpty();
  }

  @Test
  void aConnectionIsShownAndClosed() throws Exception {
    assertThat(json(get("/api/v1/connections/3")).path("session").asText()).isEqualTo("s3");
    assertThat(send("DELETE", "/api/v1/connections/3?reason=too+loud").statusCode()).isEqualTo(202);
    assertThat(bus.disconnected).containsExactly("3 too loud");
    assertThat(get("/api/v1/connections/3").statusCode()).isEqualTo(404);
    assertThat(send("DELETE", "/api/v1/connections/3").statusCode()).isEqualTo(404);
  }

  @Test
  void producersAreStringsThatNoReaderRounds() throws Exception {
    String exact = "5600182125594357123";
    JsonNode listed = json(get("/api/v1/connections")).path("items").get(0).path("producer");
    assertThat(listed.isTextual()).isTrue();
    assertThat(listed.asText()).isEqualTo(exact);
    JsonNode detail = json(get("/api/v1/connections/3"));
    assertThat(detail.path("producer").isTextual()).isTrue();
    JsonNode acknowledged = detail.path("acknowledged").get(0).path("producer");
    assertThat(acknowledged.isTextual()).isTrue();
    assertThat(acknowledged.asText()).isEqualTo(exact);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/api/v1/connections?limit=0",
        "/api/v1/quotas?subject=u1",
        "/api/v1/connections?limit=1001",
        "/api/v1/connections?limit=<script>",
        "/api/v1/connections?after=x",
        "/api/v1/connections?limit=1&limit=1",
        "/api/v1/connections?<script>=1",
        "/api/v1/connections?limit=%zz",
        "/api/v1/connections/<script>",
        "/api/v1/subscriptions?after=1",
        "/api/v1/subscriptions?after=:",
      })
  void illegalRequestsAreRefusedAndNotRepeated(String path) throws Exception {
    String response = raw("GET", path, "localhost");
    assertThat(response).startsWith("HTTP/1.1 400").doesNotContain("script");
  }

  @Test
  void illegalReasonsAreRefused() throws Exception {
    for (String reason : List.of("x".repeat(101), "%0d%0aX-Evil:1", "%c3%a9")) {
      assertThat(send("DELETE", "/api/v1/connections/3?reason=" + reason).statusCode())
          .isEqualTo(400);
    }
    assertThat(bus.disconnected).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /nothing, 404",
    "GET, /healthz/, 404",
    "GET, /api/v1/connections/, 404",
    "GET, /api/v1/connections/1/x, 404",
    "POST, /healthz, 405",
    "DELETE, /api/v1/connections, 405",
    "PUT, /api/v1/connections/1, 405",
    "OPTIONS, /api/v1/connections/1, 405",
    "GET, /api/v1/connections/99, 404"
  })
  void otherRequestsAreErrorsInJson(String method, String path, int status) throws Exception {
    HttpResponse<String> response = send(method, path);
    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(json(response).path("error").path("code").asText()).isNotEmpty();
    if (status == 405) {
      assertThat(response.headers().firstValue("Allow")).isPresent();
    }
  }

  @Test
  void headHasNoBody() throws Exception {
    HttpResponse<String> response = send("HEAD", "/readyz");
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEmpty();
  }

  @Test
  void faultsAreNotShown() throws Exception {
    bus.broken = true;
    HttpResponse<String> response = get("/api/v1/bus");
    assertThat(response.statusCode()).isEqualTo(500);
    assertThat(response.body()).contains("INTERNAL", "error 1").doesNotContain("secret");
  }

  @ParameterizedTest
  @CsvSource({
    "localhost, 200",
    "LOCALHOST:8081, 200",
    "127.0.0.1:1, 200",
    "127.1.2.3, 200",
    "[::1]:8081, 200",
    "evil.example, 421",
    "127.0.0.1.evil.example, 421",
    "localhost.evil.example:80, 421",
    "[::1.evil.example, 421",
    "192.168.0.1, 421",
    "bus.example:8081, 200",
    "a.bus.example, 421"
  })
  void onlyThisMachineMayBeNamed(String host, int status) throws Exception {
    assertThat(raw("GET", "/healthz", host)).startsWith("HTTP/1.1 " + status);
  }

  private static AdminConfig open(String allowedHost) {
    AdminAccessConfig access =
        new AdminAccessConfig(
            AdminAuth.AUTO,
            AdminAccessConfig.token("0123456789abcdef", null),
            null,
            false,
            null,
            null,
            true);
    return new AdminConfig(true, "0.0.0.0", 0, List.of(allowedHost), access);
  }

  @ParameterizedTest
  @CsvSource({
    "localhost, true",
    "192.168.0.1:8081, true",
    "[fe80::1]:8081, true",
    "proxy.example, true",
    "evil.example, false",
    "192.168.0.1.evil.example, false",
    "1.evil.example:8081, false",
    ", false"
  })
  void beyondLoopbackOnlyNamesThatAreConfigured(@Nullable String host, boolean allowed)
      throws Exception {
    AdminConfig config = open("proxy.example");
    assertThat(new HostGuard(config, InetAddress.getByName("0.0.0.0")).allows(host))
        .isEqualTo(allowed);
    AdminConfig open = open("*");
    assertThat(new HostGuard(open, InetAddress.getByName("0.0.0.0")).allows(host)).isTrue();
  }

  @Test
  void metricsAreComplete() throws Exception {
    HttpResponse<String> response = get("/metrics");
    assertThat(response.headers().firstValue("Content-Type"))
        .contains("text/plain; version=0.0.4; charset=utf-8");
    List<String> lines = response.body().lines().toList();
    for (BusMetric metric : BusMetric.ALL) {
      assertThat(lines).contains("# TYPE " + metric.name() + " " + metric.type());
    }
    assertThat(lines)
        .contains(
            "eventbus_connections 3.0",
            "eventbus_connections_limit 12.0",
            "eventbus_connections_accepted_total 17.0",
            "eventbus_refused_connections_total{reason=\"descriptors\"} 14.0",
            "eventbus_authentication_failures_total 15.0",
            "eventbus_connections_closed_total{reason=\"SLOW_CONSUMER\"} 1.0",
            "eventbus_received_messages_total 10.0",
            "eventbus_sent_messages_total 20.0",
            "eventbus_received_events_total 30.0",
            "eventbus_sent_events_total 40.0",
            "eventbus_received_bytes_total 50.0",
            "eventbus_sent_bytes_total 60.0",
            "eventbus_deliveries_total 70.0",
            "eventbus_queue_bytes 100.0",
            "eventbus_memory_used_bytes 200.0",
            "eventbus_memory_limit_bytes 300.0",
            "eventbus_dropped_events_total{reason=\"DROP_OLDEST\"} 5.0",
            "eventbus_gaps_total 6.0",
            "eventbus_problems_total{code=\"ILLEGAL_TOPIC\"} 7.0",
            "eventbus_latency_seconds_bucket{le=\"0.001\"} 8",
            "eventbus_latency_seconds_bucket{le=\"0.01\"} 10",
            "eventbus_latency_seconds_bucket{le=\"+Inf\"} 11",
            "eventbus_latency_seconds_count 11",
            "eventbus_latency_seconds_sum 1.5",
            "eventbus_calls_total{result=\"reply\"} 51.0",
            "eventbus_calls_total{result=\"no_member\"} 52.0",
            "eventbus_call_seconds_sum 5.5",
            "eventbus_call_queue_seconds_count 54",
            "eventbus_calls_in_flight 55.0",
            "eventbus_calls_queued 56.0",
            "eventbus_call_retries_total{reason=\"lost\"} 57.0",
            "eventbus_calls_shed_total{priority=\"low\"} 58.0",
            "eventbus_calls_expired_total 59.0",
            "eventbus_services 60.0",
            "eventbus_service_members 61.0",
            "eventbus_event_loop_busy_seconds_total{loop=\"loop-1\"} 12.5",
            "eventbus_event_loop_busy_ratio{loop=\"loop-1\"} 0.25",
            "eventbus_topics 9.0",
            "eventbus_subscriptions 11.0",
            "eventbus_registry_buses{state=\"up\"} 3.0",
            "eventbus_registry_leader 1.0",
            "eventbus_registry_term 21.0",
            "eventbus_registry_leader_changes_total 22.0",
            "eventbus_registry_commit_seconds_bucket{le=\"0.001\"} 5",
            "eventbus_registry_commit_seconds_count 6",
            "eventbus_registry_commit_seconds_sum 0.25",
            "eventbus_registry_log_entries 23.0",
            "eventbus_registry_log_bytes 24.0",
            "eventbus_registry_apply_lag_entries 25.0",
            "eventbus_registry_lease_age_seconds 26.5",
            "eventbus_registry_silence_seconds 27.5",
            "eventbus_journals 71.0",
            "eventbus_journal_bytes 72.0",
            "eventbus_journal_events 73.0",
            "eventbus_journal_pending_bytes 74.0",
            "eventbus_journal_confirmations_total 75.0",
            "eventbus_journal_late_settlements_total 81.0",
            "eventbus_journal_refusals_total{code=\"store_full\"} 76.0",
            "eventbus_journal_subscriptions 79.0",
            "eventbus_journal_max_lag_positions 80.0",
            "eventbus_shard_leader 77.0",
            "eventbus_shard_behind_entries 78.0",
            "eventbus_ready 1.0")
        .anyMatch(l -> l.startsWith("eventbus_build_info{") && l.contains("version=\"1.2.3\""))
        .anyMatch(l -> l.startsWith("jvm_memory_used_bytes{"))
        .anyMatch(l -> l.startsWith("jvm_threads_live_threads"))
        .anyMatch(l -> l.startsWith("process_cpu_usage"))
        .anyMatch(l -> l.startsWith("process_cpu_seconds_total "))
        .anyMatch(l -> l.startsWith("system_cpus "))
        // promtool: a unit that is no base unit, and a suffix that is kept for histograms.
        .noneMatch(l -> l.contains("cpu_time_ns") || l.contains("system_cpu_count"));
  }

  @Test
  void halfARequestIsNotWaitedFor() throws Exception {
    long start = System.nanoTime();
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.setSoTimeout((int) DEADLINE.toMillis());
      socket
          .getOutputStream()
          .write("GET /healthz HTTP/1.1\r\nHost: lo".getBytes(StandardCharsets.UTF_8));
      assertThat(readAll(socket.getInputStream())).doesNotContain("200");
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isGreaterThan(Duration.ofSeconds(AdminConnection.REQUEST_SECONDS - 1));
    }
    assertThat(get("/healthz").statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 10})
  void connectionsThatBeginARequestKeepNobodyAway(int addresses) throws Exception {
    try (Crowd crowd = new Crowd(300, addresses, server.port())) {
      crowd.write("G");
      assertThat(raw("GET", "/healthz", "localhost")).startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void connectionsThatSayNothingKeepNobodyAway() throws Exception {
    try (Crowd crowd = new Crowd(MAX_CONNECTIONS - 50, 1, server.port())) {
      assertThat(crowd.sockets).hasSize(MAX_CONNECTIONS - 50);
      assertThat(raw("GET", "/healthz", "localhost")).startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void moreThanItTakesAreClosedSoon() throws Exception {
    try (Crowd crowd = new Crowd(MAX_CONNECTIONS + 100, 10, server.port())) {
      // A silent client loses the connection; the deadline of the socket is the test's.
      for (Socket socket : crowd.sockets) {
        socket.setSoTimeout((int) DEADLINE.toMillis());
        assertThat(end(socket)).isTrue();
      }
      assertThat(raw("GET", "/healthz", "localhost")).startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void theOldestOfTheAddressWithMostMakesWay() throws Exception {
    try (Crowd one = new Crowd(1, 1, server.port());
        Crowd max = new Crowd(AdminConnections.MAX_OF_ADDRESS, "127.0.0.9", server.port());
        Crowd more = new Crowd(1, "127.0.0.9", server.port())) {
      Socket evicted = max.sockets.get(0);
      evicted.setSoTimeout((int) DEADLINE.toMillis());
      assertThat(end(evicted)).isTrue();
      for (Crowd crowd : List.of(one, more)) {
        crowd.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assertThat(readAll(crowd.sockets.get(0).getInputStream())).startsWith("HTTP/1.1 200");
      }
    }
  }

  @Test
  void aTargetThatIsTooLongIsNotLookedAt() throws Exception {
    assertThat(raw("GET", "/a".repeat(150_000), "localhost"))
        .startsWith("HTTP/1.1 414")
        .contains("request line: too long (expected: 4096 octets at most)");
    assertThat(raw("GET", "/a".repeat(1_000), "localhost")).startsWith("HTTP/1.1 404");
  }

  @Test
  void aHeadThatIsTooLargeIsRefused() throws Exception {
    for (String headers :
        List.of("X-Long: " + "x".repeat(AdminConnection.MAX_HEADERS), many("X: y", 100))) {
      assertThat(raw("GET", "/healthz", "localhost\r\n" + headers))
          .startsWith("HTTP/1.1 431")
          .contains("(expected: 16384 octets and 100 headers at most)");
    }
    assertThat(raw("GET", "/healthz", "localhost\r\n" + many("X: y", 90)))
        .startsWith("HTTP/1.1 200");
  }

  private static String many(String header, int count) {
    return String.join("\r\n", Collections.nCopies(count, header));
  }

  @Test
  void aBodyIsDroppedAndALongOneRefused() throws Exception {
    String length = "localhost\r\nContent-Length: ";
    assertThat(raw("PUT", "/api/v1/drains/bus-2", length + 8_192, "x".repeat(8_192)))
        .startsWith("HTTP/1.1 202");
    assertThat(raw("PUT", "/api/v1/drains/bus-2", length + 8_193, "x".repeat(8_193)))
        .startsWith("HTTP/1.1 413");
    assertThat(bus.balance.asked).containsExactly("drain bus-2");
  }

  @Test
  void bytesThatAreNoHttpAreABadRequest() throws Exception {
    assertThat(raw("G(T", "/healthz", "localhost")).startsWith("HTTP/1.1 400");
    assertThat(raw("GET", "/%", "localhost"))
        .startsWith("HTTP/1.1 400")
        .contains("request target: malformed (expected: a path, as in RFC 3986)");
  }

  /** The same without a login as for authenticated callers. */
  @Test
  void aCallerKeepsItsConnection() throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.setSoTimeout((int) DEADLINE.toMillis());
      String request = "HEAD /api/v1/bus HTTP/1.1\r\nHost: localhost\r\n";
      for (String end : List.of("\r\n", "Connection: close\r\n\r\n")) {
        socket.getOutputStream().write((request + end).getBytes(StandardCharsets.UTF_8));
        StringBuilder answer = new StringBuilder();
        while (answer.indexOf("\r\n\r\n") < 0) {
          int octet = socket.getInputStream().read();
          assertThat(octet).as("after " + answer).isNotNegative();
          answer.append((char) octet);
        }
        assertThat(answer.toString()).startsWith("HTTP/1.1 200");
      }
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
  }

  /**
   * Returns whether the connection has ended; one that is closed before it was accepted may be
   * reset.
   */
  private static boolean end(Socket socket) throws IOException {
    try {
      return socket.getInputStream().read() == -1;
    } catch (SocketException e) {
      return true;
    }
  }

  private static final class Crowd implements AutoCloseable {
    final List<Socket> sockets = new ArrayList<>();

    /** Connects from so many addresses in turn, the first one that of everybody else. */
    Crowd(int count, int addresses, int port) throws IOException {
      for (int i = 0; i < count; i++) {
        connect("127.0.0." + (1 + i % addresses), port);
      }
    }

    Crowd(int count, String address, int port) throws IOException {
      for (int i = 0; i < count; i++) {
        connect(address, port);
      }
    }

    private void connect(String from, int port) throws IOException {
      sockets.add(
          new Socket(InetAddress.getLoopbackAddress(), port, InetAddress.getByName(from), 0));
    }

    /** Writes to each that is still there. */
    void write(String text) {
      for (Socket socket : sockets) {
        try {
          socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
          // The connection had to make way.
        }
      }
    }

    @Override
    public void close() throws IOException {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  /** A crowd that asks for long lists takes one processor at most. */
  @Test
  void listsAreComputedOneAtATime() throws Exception {
    for (int i = 0; i < 3; i++) {
      assertThat(get("/api/v1/services").statusCode()).isEqualTo(200);
    }
    assertThat(bus.listedBy).containsExactly("eventbus-admin-answers");
  }

  @Test
  void threadsAreNamedAndFew() throws Exception {
    for (int i = 0; i < 20; i++) {
      get("/api/v1/bus");
    }
    Set<String> names = new java.util.TreeSet<>();
    Thread.getAllStackTraces().keySet().forEach(t -> names.add(t.getName()));
    assertThat(names)
        .contains("eventbus-admin-io", "eventbus-admin-answers")
        .doesNotContain("eventbus-admin-" + (AdminServer.THREADS + 1));
  }

  private HttpResponse<String> get(String path) throws Exception {
    return send("GET", path);
  }

  private HttpResponse<String> send(String method, String path) throws Exception {
    return send(method, URI.create("http://127.0.0.1:" + server.port() + path));
  }

  private HttpResponse<String> send(String method, URI uri) throws Exception {
    return client.send(
        HttpRequest.newBuilder(uri)
            .method(method, HttpRequest.BodyPublishers.noBody())
            .timeout(DEADLINE)
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  /** A proxy in front may have read the other one. */
  @ParameterizedTest
  @ValueSource(strings = {"localhost", "evil.example"})
  void twoHostHeadersAreABadRequest(String second) throws Exception {
    String response = raw("GET", "/healthz", "localhost\r\nHost: " + second);
    assertThat(response).startsWith("HTTP/1.1 400").contains("2 Host headers (expected: one)");
  }

  /** Sends a request verbatim, which a proper client would not send. */
  private String raw(String method, String path, String host) throws IOException {
    return raw(method, path, host, "");
  }

  private String raw(String method, String path, String host, String body) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.setSoTimeout((int) DEADLINE.toMillis());
      String request =
          method
              + " "
              + path
              + " HTTP/1.1\r\nHost: "
              + host
              + "\r\nConnection: close\r\n\r\n"
              + body;
      socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      return readAll(socket.getInputStream());
    }
  }

  private static String readAll(InputStream in) throws IOException {
    return new String(in.readAllBytes(), StandardCharsets.UTF_8);
  }

  private static JsonNode json(HttpResponse<String> response) throws IOException {
    return new ObjectMapper().readTree(response.body());
  }
}
