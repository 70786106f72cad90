package io.eventbus.it;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.cli.CliHarness;
import io.eventbus.client.ErrorCode;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Journals of accounts, at a bus with its real store: their quotas and their managers. */
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class JournalAccountsIT {
  private static final String ROLES =
      """
      [role user]
      allow publish >
      allow subscribe >
      [role manager]
      allow journal orders.{account}.>
      [account small]
      quota durable-bytes = 64KiB
      quota journals = 2
      """;

  private final List<EventBusClient> clients = new ArrayList<>();
  private final HttpClient http = HttpClient.newHttpClient();
  private BusServer bus;

  @BeforeAll
  void start(@TempDir Path directory) throws Exception {
    Path roles = Files.writeString(directory.resolve("roles.conf"), ROLES);
    bus =
        TestBus.start(
            SignedTokens.settings(
                directory,
                "durable.directory",
                directory.resolve("data").toString(),
                "auth.roles-file",
                roles.toString(),
                "admin.auth",
                "required",
                "admin.account",
                "ops",
                "timeouts.shutdown",
                "1s"));
  }

  @AfterAll
  void stop() {
    bus.close();
  }

  @AfterEach
  void closeClients() {
    clients.forEach(client -> client.close(Duration.ZERO));
    clients.clear();
  }

  private static String token(String account, String role) {
    return SignedTokens.token(
        role, Instant.now(), "{\"account\":\"" + account + "\",\"roles\":[\"" + role + "\"]}");
  }

  private EventBusClient client(String account) {
    EventBusClient client =
        EventBusClient.builder().url(bus.uri()).token(token(account, "user")).connect();
    clients.add(client);
    return client;
  }

  /** Runs {@code eventbus journal} with a manager's own token; returns what it writes. */
  private String manage(Path directory, int code, String... arguments) throws IOException {
    Path token = Files.writeString(directory.resolve("token"), token("acme", "manager"));
    CliHarness cli = new CliHarness();
    List<String> all = new ArrayList<>(List.of("journal"));
    all.addAll(List.of(arguments));
    all.add("--admin=127.0.0.1:" + bus.adminPort());
    all.add("--admin-token-file=" + token);
    assertThat(cli.run(all.toArray(new String[0]))).as(cli.out() + cli.err()).isEqualTo(code);
    return cli.out() + cli.err();
  }

  private HttpResponse<String> ask(String token, String method, String path) throws Exception {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bus.adminPort() + path))
            .timeout(Duration.ofSeconds(60))
            .header("Authorization", "Bearer " + token)
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private String operate(String method, String path) throws Exception {
    HttpResponse<String> answer = ask(token("ops", "admin"), method, "/api/v1/" + path);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  /** Publishes an event; returns why it was refused, or null. */
  private static EventBusException.@Nullable Refused publish(
      EventBusClient client, String topic, String payload) throws Exception {
    try {
      var unused = client.publish(topic, Event.of(payload)).toCompletableFuture().get(60, SECONDS);
      return null;
    } catch (ExecutionException e) {
      return (EventBusException.Refused) e.getCause();
    }
  }

  @Test
  void aManagerHasTheJournalsOfItsAccountThatARuleCovers(@TempDir Path directory) throws Exception {
    operate("PUT", "journals/orders?account=other&filters=orders.%3E");
    manage(directory, 0, "create", "orders", "--filter=orders.acme.>");
    EventBusClient client = client("acme");
    assertThat(publish(client, "orders.acme.x", "y")).isNull();
    assertThat(manage(directory, 0, "list")).contains("orders.acme.>").doesNotContain("other");
    assertThat(manage(directory, 0, "show", "orders")).contains("acme");
    manage(directory, 0, "trim", "orders", "--up-to=1");
    for (String filter : List.of("orders.>", "orders.other.>", "orders.acme.> b")) {
      assertThat(
              ask(
                      token("acme", "manager"),
                      "PUT",
                      "/api/v1/journals/more?filters="
                          + URLEncoder.encode(filter, StandardCharsets.UTF_8))
                  .statusCode())
          .as(filter)
          .isEqualTo(403);
    }
    assertThat(ask(token("acme", "user"), "GET", "/api/v1/journals").statusCode()).isEqualTo(403);
    assertThat(ask(token("acme", "manager"), "GET", "/api/v1/bus").statusCode()).isEqualTo(403);
    String other = "/api/v1/journals/orders?account=other";
    assertThat(ask(token("acme", "manager"), "DELETE", other).statusCode()).isEqualTo(403);
    manage(directory, 0, "delete", "orders");
    assertThat(operate("GET", "journals?account=other")).contains("orders.>");
  }

  @Test
  void anAccountAtItsQuotaStoresNothingUntilJournalsAreTrimmed() throws Exception {
    operate("PUT", "journals/a?account=small&filters=a.%3E");
    operate("PUT", "journals/b?account=small&filters=b.%3E");
    operate("PUT", "journals/a?account=large&filters=a.%3E");
    HttpResponse<String> third =
        ask(token("ops", "admin"), "PUT", "/api/v1/journals/c?account=small&filters=c.%3E");
    assertThat(third.statusCode()).isEqualTo(409);
    assertThat(third.body()).contains("have 2 journals (expected: at most 2, quota of the account");
    EventBusClient small = client("small");
    EventBusClient large = client("large");
    int stored = 0;
    while (stored < 4) {
      assertThat(publish(small, "a.x", "x".repeat(16_384))).isNull();
      stored++;
    }
    // Until the next look at the sums.
    EventBusException.Refused refused = publish(small, "a.x", "y");
    while (refused == null) {
      stored++;
      refused = publish(small, "a.x", "y");
    }
    assertThat(refused.code()).isEqualTo(ErrorCode.STORE_FULL);
    assertThat(refused).hasMessageContaining("(expected: at most 65536, quota of the account");
    assertThat(publish(small, "b.x", "y")).isNotNull();
    assertThat(publish(small, "live", "y")).isNull();
    assertThat(publish(large, "a.x", "y")).isNull();
    assertThat(operate("GET", "quotas?account=small")).contains("\"quota\":\"durable-bytes\"");
    operate("PUT", "journals/a/trim?account=small&up-to=" + stored);
    while (publish(small, "a.x", "y") != null) {
      assertThat(publish(large, "a.x", "y")).isNull();
    }
    assertThat(publish(small, "b.x", "y")).isNull();
  }
}
