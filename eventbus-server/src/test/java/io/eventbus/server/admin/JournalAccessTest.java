package io.eventbus.server.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.config.AdminAccessConfig;
import io.eventbus.server.config.AdminAuth;
import io.eventbus.server.config.AdminConfig;
import io.eventbus.server.config.Quota;
import io.eventbus.server.durable.FakeEvents;
import io.eventbus.server.durable.FakeJournals;
import io.eventbus.server.durable.FakeQuotas;
import io.eventbus.server.durable.JournalAdministration;
import io.eventbus.server.durable.JournalCluster;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.Effect;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.LoginMethod;
import io.eventbus.server.security.LoginOutcome;
import io.eventbus.server.security.PermissionPolicy;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Rule;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Journals of an account, managed by a user that is no operator. */
@Timeout(180)
class JournalAccessTest {
  private final FakeBus bus = new FakeBus(0);
  private final FakeQuotas quotas = new FakeQuotas();
  private final FakeJournals journals = new FakeJournals();
  private final Advisories advisories = new Advisories();
  private final List<Advisory> told = new CopyOnWriteArrayList<>();
  private final HttpClient client = HttpClient.newHttpClient();
  private final AdminServer server;

  JournalAccessTest() throws Exception {
    advisories.audit(told::add);
    bus.journals(
        new JournalAdministration(
            journals, JournalCluster.ALONE, quotas.quotas, advisory -> {}, () -> {}));
    server =
        AdminServer.start(
            new AdminConfig(
                true,
                "127.0.0.1",
                0,
                List.of(),
                new AdminAccessConfig(
                    AdminAuth.REQUIRED,
                    AdminAccessConfig.token(null, null),
                    "ops",
                    false,
                    null,
                    null,
                    false)),
            bus::health,
            advisories,
            100);
    server.serve(bus, List.of(users()), rules());
  }

  /** Users named account/role, all with the same password. */
  private static LoginMethod users() {
    return new LoginMethod() {
      @Override
      public boolean takes(Credentials credentials) {
        return credentials.user() != null;
      }

      @Override
      public CompletableFuture<LoginOutcome> check(Credentials credentials) {
        String[] parts = String.valueOf(credentials.user()).split("/", -1);
        return CompletableFuture.completedFuture(
            new LoginOutcome.Proved(
                new Identity(
                    parts[0],
                    parts[1],
                    AuthenticationMethod.PASSWORD,
                    Set.of(parts[1]),
                    Map.of(),
                    Map.of(),
                    Map.of(),
                    null,
                    null)));
      }
    };
  }

  private static Rule rule(Effect effect, String filter) {
    return new Rule(effect, Action.JOURNAL, filter, "test", TopicFilter.parse(filter));
  }

  private static PermissionPolicy rules() {
    Permissions managers =
        new Permissions(
            Map.of(
                Action.JOURNAL,
                FilterRules.of(
                    List.of(
                        rule(Effect.ALLOW, "orders.>"),
                        rule(Effect.ALLOW, "billing.*"),
                        rule(Effect.DENY, "orders.root.>")),
                    "role manager")));
    return (identity, shown) -> identity.roles().contains("manager") ? managers : Permissions.NONE;
  }

  @BeforeEach
  void createJournals() throws Exception {
    for (String each :
        List.of(
            "orders?filters=orders.eu.%3E&account=acme",
            "mixed?filters=orders.us.%3E%20other&account=acme",
            "orders?filters=orders.eu.%3E&account=umbrella",
            "orders?filters=orders.eu.%3E")) {
      assertThat(send("ops/admin", "PUT", "/journals/" + each).statusCode()).isEqualTo(200);
    }
    FakeEvents.reject(journals, 1, "work", 1, "");
    told.clear();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private HttpResponse<String> send(String user, String method, String path) throws Exception {
    return begin(user, method, path).get();
  }

  private CompletableFuture<HttpResponse<String>> begin(String user, String method, String path) {
    String pair = user + ":secret";
    return client.sendAsync(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/api/v1" + path))
            .timeout(Duration.ofSeconds(60))
            .header(
                "Authorization",
                "Basic "
                    + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8)))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void clientsLeaveOneChangeForOperators() throws Exception {
    journals.holds(true);
    String trim = "/journals/orders/trim?up-to=1";
    var one = begin("acme/manager", "PUT", trim);
    var other = begin("acme/manager", "PUT", trim);
    var refused = (HttpResponse<?>) CompletableFuture.anyOf(one, other).get();
    assertThat(refused.statusCode()).isEqualTo(503);
    var operator = begin("ops/admin", "PUT", trim);
    journals.holds(false);
    journals.applyHeld();
    assertThat(operator.get().statusCode()).isEqualTo(200);
    assertThat(one.get().statusCode() + other.get().statusCode()).isEqualTo(503 + 200);
  }

  @ParameterizedTest
  @CsvSource({
    "acme/manager, GET, /journals, 200",
    "acme/manager, GET, /journals?account=acme, 200",
    "acme/manager, GET, /journals?account=umbrella, 403",
    "acme/manager, GET, /journals?account=none, 403",
    "acme/manager, GET, /journals?account=, 403",
    "acme/manager, GET, /journals/orders, 200",
    "acme/manager, GET, /journals/mixed, 200",
    "acme/manager, GET, /journals/orders/cursors, 200",
    "acme/manager, GET, /journals/orders?account=umbrella, 403",
    "acme/manager, GET, /journals/orders/cursors?account=umbrella, 403",
    "acme/manager, GET, /journals/gone, 404",
    "acme/manager, PUT, /journals/new?filters=orders.uk.%3E%20billing.*, 200",
    "acme/manager, PUT, /journals/new?filters=orders.uk.%3E%20other2, 403",
    "acme/manager, PUT, /journals/new?filters=%3E, 403",
    "acme/manager, PUT, /journals/new?filters=orders.root.a, 403",
    "acme/manager, PUT, /journals/new?filters=orders.*.a, 403",
    "acme/manager, PUT, /journals/new?filters=orders.uk.%3E&account=umbrella, 403",
    "acme/manager, PUT, /journals/orders/definition?max-events=5, 200",
    "acme/manager, PUT, /journals/orders/definition?filters=orders.eu.%3E%20more, 403",
    "acme/manager, PUT, /journals/mixed/definition?filters=orders.us.%3E, 403",
    "acme/manager, PUT, /journals/orders/definition?max-events=5&account=umbrella, 403",
    "acme/manager, PUT, /journals/orders/trim?up-to=1, 200",
    "acme/manager, PUT, /journals/mixed/trim?up-to=1, 403",
    "acme/manager, PUT, /journals/orders/trim?up-to=1&account=umbrella, 403",
    "acme/manager, PUT, /journals/orders/purge?topic=orders.eu.x, 200",
    "acme/manager, PUT, /journals/mixed/purge?topic=orders.us.x, 403",
    "acme/manager, GET, /journals/orders/dead?durable=work, 200",
    "acme/manager, GET, /journals/orders/dead?durable=work&account=umbrella, 403",
    "acme/manager, PUT, /journals/orders/redrive?durable=work, 200",
    "acme/manager, PUT, /journals/mixed/redrive?durable=work, 403",
    "acme/manager, PUT, /journals/orders/redrive?durable=work&account=umbrella, 403",
    "acme/trader, GET, /journals/orders/dead?durable=work, 403",
    "acme/trader, PUT, /journals/orders/redrive?durable=work, 403",
    "ops/viewer, GET, /journals/orders/dead?durable=work&account=acme, 200",
    "ops/viewer, PUT, /journals/orders/redrive?durable=work&account=acme, 403",
    "ops/admin, PUT, /journals/orders/redrive?durable=work&account=acme, 200",
    "acme/manager, DELETE, /journals/orders, 200",
    "acme/manager, DELETE, /journals/mixed, 403",
    "acme/manager, DELETE, /journals/gone, 404",
    "acme/manager, DELETE, /journals/orders?account=umbrella, 403",
    "acme/manager, GET, /shards, 403",
    "acme/manager, DELETE, /shards/votes/b1, 403",
    "acme/manager, DELETE, /shards/replicas/b1, 403",
    "acme/manager, GET, /bus, 403",
    "acme/manager, GET, /quotas, 403",
    "acme/manager, DELETE, /connections/1, 403",
    "acme/trader, GET, /journals, 403",
    "acme/trader, PUT, /journals/new?filters=orders.uk.%3E, 403",
    "acme/admin, GET, /journals, 403",
    "ops/viewer, GET, /journals/orders?account=acme, 200",
    "ops/viewer, PUT, /journals/orders/trim?up-to=1&account=acme, 403",
    "ops/admin, PUT, /journals/mixed/trim?up-to=1&account=acme, 200",
    "ops/admin, DELETE, /journals/orders?account=umbrella, 200"
  })
  void aManagerChangesWhatItsRulesCoverInItsAccount(
      String user, String method, String path, int status) throws Exception {
    HttpResponse<String> response = send(user, method, path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    if (status == 403) {
      assertThat(told)
          .singleElement()
          .isInstanceOfSatisfying(
              Advisory.AdminAction.class,
              action -> {
                assertThat(action.caller()).isEqualTo(user.substring(user.indexOf('/') + 1));
                assertThat(action.callerAccount()).isEqualTo(user.substring(0, user.indexOf('/')));
                assertThat(action.status()).isEqualTo(403);
                assertThat(action.causedByClient()).isTrue();
              });
    }
  }

  @Test
  void aManagerSeesTheJournalsOfItsAccountOnly() throws Exception {
    assertThat(send("acme/manager", "GET", "/journals").body())
        .contains("\"name\":\"mixed\"", "\"name\":\"orders\"")
        .doesNotContain("umbrella", "\"account\":\"\"");
    assertThat(send("acme/manager", "GET", "/journals?limit=1").body())
        .contains("account=acme&after=acme%2Fmixed");
  }

  @Test
  void refusalsNameTheFilterAndTheRole() throws Exception {
    assertThat(send("acme/manager", "PUT", "/journals/new?filters=orders.uk.%3E%20b").body())
        .contains("journals of b are not yours to manage (role manager; expected: ");
  }

  @Test
  void theQuotaHoldsForManagersAndChangesAreAudited() throws Exception {
    quotas.limit("acme", Quota.JOURNALS, 3);
    String create = "/journals/%s?filters=billing.%s";
    assertThat(send("acme/manager", "PUT", String.format(create, "a", "a")).statusCode())
        .isEqualTo(200);
    assertThat(send("acme/manager", "PUT", String.format(create, "b", "b")).statusCode())
        .isEqualTo(409);
    assertThat(told)
        .hasSize(2)
        .allSatisfy(
            each -> {
              Advisory.AdminAction action = (Advisory.AdminAction) each;
              assertThat(action.caller()).isEqualTo("manager");
              assertThat(action.callerAccount()).isEqualTo("acme");
              assertThat(action.role()).isEqualTo("none");
              assertThat(action.causedByClient()).isTrue();
            });
  }
}
