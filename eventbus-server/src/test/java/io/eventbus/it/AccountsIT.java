package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.RequestHandler;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two accounts, and clients without one, that use the same names at two buses. */
@Timeout(120)
class AccountsIT {
  private static final String[] ACCOUNTS = {"acme", "umbrella", ""};

  private final FederatedBuses cluster;
  private final List<EventBusClient> clients = new ArrayList<>();

  AccountsIT(@TempDir Path root) throws IOException {
    Path users = root.resolve("users");
    String hash = CheapPassword.hash("open sesame");
    Files.writeString(
        users,
        "u0:"
            + hash
            + ":acme:\nu1:"
            + hash
            + ":umbrella:\nu2:"
            + hash
            + "::\nu3:"
            + hash
            + ":third:\n");
    cluster =
        FederatedBuses.start(
            root.resolve("cluster"),
            2,
            "auth.users-file",
            users.toString(),
            "auth.observe",
            "everyone",
            "limits.accounts",
            "2");
  }

  @AfterEach
  void close() {
    clients.forEach(client -> client.close(Duration.ZERO));
    cluster.close();
  }

  private EventBusClient client(int bus, int account) {
    EventBusClient client =
        EventBusClient.builder()
            .url(cluster.bus(bus).uri())
            .name("of" + account)
            .credentials("u" + account, "open sesame")
            .connect();
    clients.add(client);
    return client;
  }

  private static JsonNode get(BusServer bus, String path) throws Exception {
    return new ObjectMapper()
        .readTree(
            HttpClient.newHttpClient()
                .send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bus.adminPort() + path))
                        .build(),
                    HttpResponse.BodyHandlers.ofString())
                .body());
  }

  @Test
  void theSameTopicsAndGroupsOfTwoAccountsNeverMeet() throws Exception {
    int events = 200;
    List<Receipts> plain = new ArrayList<>();
    List<List<Receipts>> members = new ArrayList<>();
    for (int account = 0; account < ACCOUNTS.length; account++) {
      members.add(new ArrayList<>());
      for (int bus = 0; bus < 2; bus++) {
        plain.add(Receipts.of(client(bus, account), "t.>"));
        members
            .get(account)
            .add(
                Receipts.of(
                    client(bus, account), "t.x", SubscribeOptions.DEFAULT.withGroup("workers")));
      }
    }
    for (int account = 0; account < ACCOUNTS.length; account++) {
      // Each account has another number, so that any that crosses is seen.
      FederationIT.publish(client(account % 2, account), events * (account + 1), "t.x");
    }
    for (int account = 0; account < ACCOUNTS.length; account++) {
      int expected = events * (account + 1);
      plain.get(2 * account).await(expected);
      plain.get(2 * account + 1).await(expected);
      List<Receipts> group = members.get(account);
      WatchedBus.await(
          () -> group.stream().mapToLong(Receipts::count).sum() >= expected,
          () -> "of the group " + group.stream().map(Receipts::count).toList());
      assertThat(group.stream().mapToLong(Receipts::count).sum()).isEqualTo(expected);
    }
    for (Receipts each : plain) {
      assertThat(each.count()).isIn((long) events, 2L * events, 3L * events);
    }
    BusServer bus = cluster.bus(0);
    JsonNode accounts = get(bus, "/api/v1/accounts").path("items");
    assertThat(accounts.findValuesAsText("name")).containsExactly("acme", "umbrella");
    assertThat(accounts.get(0).path("subscriptions").asLong()).isEqualTo(2);
    assertThat(cluster.metric(bus, "eventbus_accounts")).isEqualTo(2);
    assertThat(
            get(bus, "/api/v1/connections?account=umbrella")
                .path("items")
                .findValuesAsText("client"))
        .isNotEmpty()
        .containsOnly("of1");
    assertThat(get(bus, "/api/v1/subscriptions?account=acme").path("items")).hasSize(2);
    for (int account = 0; account < ACCOUNTS.length; account++) {
      JsonNode topics = get(bus, "/api/v1/topics?account=" + ACCOUNTS[account]).path("items");
      assertThat(topics).hasSize(1);
      assertThat(topics.get(0).path("name").asText()).isEqualTo("t.x");
      assertThat(topics.get(0).path("events").asLong()).isEqualTo((long) events * (account + 1));
    }
  }

  private static RequestHandler answering(String text) {
    return invocation -> CompletableFuture.completedFuture(Event.of(text));
  }

  @Test
  void theSameServiceOfTwoAccountsIsTwo() throws Exception {
    RequestOptions options = RequestOptions.DEFAULT.withTimeout(Duration.ofSeconds(10));
    EventBusClient serving = client(0, 0);
    EventBusClient stranger = client(0, 1);
    serving
        .serve("orders", answering("of acme"))
        .ready()
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
    assertThatThrownBy(
            () -> stranger.request("orders", Event.of("?"), options).get(60, TimeUnit.SECONDS))
        .hasMessageContaining("no member serves it");
    client(0, 1)
        .serve("orders", answering("of umbrella"))
        .ready()
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
    for (int i = 0; i < 20; i++) {
      assertThat(
              stranger.request("orders", Event.of("?"), options).get(60, TimeUnit.SECONDS).text())
          .isEqualTo("of umbrella");
      assertThat(
              client(0, 0)
                  .request("orders", Event.of("?"), options)
                  .get(60, TimeUnit.SECONDS)
                  .text())
          .isEqualTo("of acme");
    }
    JsonNode listed = get(cluster.bus(0), "/api/v1/services?account=acme").path("items");
    assertThat(listed).hasSize(1);
    assertThat(listed.get(0).path("members").asInt()).isEqualTo(1);
    assertThat(get(cluster.bus(0), "/api/v1/services").path("items")).isEmpty();
    assertThat(
            get(cluster.bus(0), "/api/v1/services/orders?account=umbrella")
                .path("members")
                .findValuesAsText("client"))
        .containsExactly("of1");
  }

  @Test
  void aServiceAtAnotherBusIsThatOfTheAccount() throws Exception {
    RequestOptions options = RequestOptions.DEFAULT.withTimeout(Duration.ofSeconds(10));
    for (int account : new int[] {0, 2}) {
      client(1, account)
          .serve("far", answering("of '" + ACCOUNTS[account] + "'"))
          .ready()
          .toCompletableFuture()
          .get(60, TimeUnit.SECONDS);
    }
    EventBusClient stranger = client(0, 1);
    EventBusClient acme = client(0, 0);
    EventBusClient common = client(0, 2);
    for (int i = 0; i < 20; i++) {
      assertThat(acme.request("far", Event.of("?"), options).get(60, TimeUnit.SECONDS).text())
          .isEqualTo("of 'acme'");
      assertThat(common.request("far", Event.of("?"), options).get(60, TimeUnit.SECONDS).text())
          .isEqualTo("of ''");
      assertThatThrownBy(
              () -> stranger.request("far", Event.of("?"), options).get(60, TimeUnit.SECONDS))
          .hasMessageContaining("no member serves it");
    }
    for (String account : new String[] {"acme", ""}) {
      JsonNode listed = get(cluster.bus(0), "/api/v1/services?account=" + account).path("items");
      assertThat(listed).hasSize(1);
      assertThat(listed.get(0).path("members").asInt()).isZero();
      assertThat(listed.get(0).path("buses")).hasSize(1);
      assertThat(listed.get(0).path("buses").get(0).asText()).isEqualTo("bus-b");
    }
    assertThat(get(cluster.bus(0), "/api/v1/services?account=umbrella").path("items")).isEmpty();
  }

  @Test
  void anAccountHearsOfItsOwnClientsOnly() throws Exception {
    BlockingQueue<String> acme = new LinkedBlockingQueue<>();
    BlockingQueue<String> all = new LinkedBlockingQueue<>();
    // At the other bus, so that it is told there.
    for (int account : new int[] {0, 2}) {
      BlockingQueue<String> heard = account == 0 ? acme : all;
      client(1, account)
          .subscribe("$SYS.>", event -> heard.add(event.topic() + " " + event.text()))
          .ready()
          .toCompletableFuture()
          .get(60, TimeUnit.SECONDS);
    }
    client(0, 1);
    client(0, 0);
    assertThat(awaitConnected(acme, "acme"))
        .as("told before")
        .noneMatch(event -> event.contains("umbrella") || event.contains(".stats"));
    awaitConnected(all, "umbrella");
    awaitConnected(all, "acme");
  }

  /** Returns what was told before. */
  private static List<String> awaitConnected(BlockingQueue<String> heard, String account)
      throws InterruptedException {
    List<String> skipped = new ArrayList<>();
    while (true) {
      String next = heard.poll(60, TimeUnit.SECONDS);
      assertThat(next).as("a client of %s after %s", account, skipped).isNotNull();
      if (next.contains("client_connected")
          && next.contains("bus-a")
          && next.contains("\"account\":\"" + account + "\"")) {
        return skipped;
      }
      skipped.add(next);
    }
  }

  @Test
  void anExcessAccountIsRefusedUntilThereIsRoom() throws Exception {
    EventBusClient first = client(0, 0);
    client(0, 1);
    client(0, 2);
    assertThatThrownBy(() -> client(0, 3)).hasMessageContaining("limits.accounts");
    // Another bus has room, and a present account takes any number of clients.
    client(1, 3);
    client(0, 1);
    first.close(Duration.ofSeconds(10));
    cluster.awaitMetric(cluster.bus(0), "eventbus_accounts", 1);
    client(0, 3);
    cluster.awaitMetric(cluster.bus(0), "eventbus_accounts", 2);
  }
}
