package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Problem;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Operators that log in at the administration port, and revoke clients' credentials. */
@Timeout(120)
class RevocationIT {
  private static final String REVOKED = "the credential of this client was revoked";

  private final Instant now = Instant.now();
  private final HttpClient http = HttpClient.newHttpClient();

  /** Returns a token of a client without roles, issued so many seconds ago. */
  private String token(String subject, int secondsAgo) {
    return SignedTokens.token(subject, now.minusSeconds(secondsAgo), "{\"account\":\"acme\"}");
  }

  private String operator(String subject, String account, String role) {
    return "Bearer "
        + SignedTokens.token(
            subject,
            now.minusSeconds(60),
            "{\"account\":\"" + account + "\",\"roles\":[\"" + role + "\"]}");
  }

  private static String basic(String user, String password) {
    return "Basic "
        + Base64.getEncoder()
            .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
  }

  private HttpResponse<String> ask(
      BusServer bus, @Nullable String authorization, String method, String path) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bus.adminPort() + path))
            .method(method, HttpRequest.BodyPublishers.noBody());
    if (authorization != null) {
      request.header("Authorization", authorization);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private void assertCaller(BusServer bus, String authorization, String name, String role)
      throws Exception {
    HttpResponse<String> answer = ask(bus, authorization, "GET", "/api/v1/caller");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    assertThat(answer.body()).contains("\"name\":\"" + name + "\"", "\"role\":\"" + role + "\"");
  }

  private void revoke(BusServer bus, String by, String account, String subject, int secondsAgo)
      throws Exception {
    HttpResponse<String> answer =
        ask(
            bus,
            by,
            "PUT",
            "/api/v1/revocations?account="
                + account
                + "&subject="
                + subject
                + "&before="
                + now.minusSeconds(secondsAgo));
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
  }

  private static RawClient client(BusServer bus, String token, @Nullable String user)
      throws IOException {
    RawClient client = RawClient.upgraded(bus.uri());
    client.send(
        ControlFrames.encode(
            TypeCode.HELLO, new Hello("raw", "test", token, null, Map.of(), null, user, null)));
    return client;
  }

  private static RawClient letIn(BusServer bus, String token, @Nullable String user)
      throws IOException {
    RawClient client = client(bus, token, user);
    client.expect(TypeCode.WELCOME);
    return client;
  }

  private static void assertRefused(BusServer bus, String token) throws IOException {
    try (RawClient client = client(bus, token, null)) {
      assertThat(client.expectProblem().getMessage()).contains("the credentials in Hello");
      assertThat(client.awaitClose()).isEqualTo(4500);
    }
  }

  private static void assertClosed(RawClient client) throws IOException {
    Problem problem = client.expectProblem();
    assertThat(problem.getCode()).isEqualTo(ErrorCode.UNAUTHENTICATED);
    assertThat(problem.getMessage()).isEqualTo(REVOKED);
    assertThat(client.awaitClose()).isEqualTo(4500);
  }

  @Test
  void revokedCredentialsAreRefused(@TempDir Path directory) throws Exception {
    Path users =
        Files.writeString(
            directory.resolve("users"),
            "ann:"
                + CheapPassword.hash("open sesame")
                + ":ops:operator\nbob:"
                + CheapPassword.hash("let me in")
                + ":acme:admin\n");
    String[] settings =
        SignedTokens.settings(
            directory,
            "auth.users-file",
            users.toString(),
            "admin.auth",
            "required",
            "admin.account",
            "ops");
    try (BusServer bus = TestBus.start(settings)) {
      String root = operator("root", "ops", "admin");
      assertCaller(bus, root, "root", "admin");
      assertCaller(bus, operator("eve", "ops", "viewer"), "eve", "viewer");
      assertCaller(bus, basic("ann", "open sesame"), "ann", "operator");
      String list = "/api/v1/revocations";
      assertThat(ask(bus, null, "GET", list).statusCode()).isEqualTo(401);
      assertThat(ask(bus, null, "GET", "/api/v1/caller").statusCode()).isEqualTo(401);
      assertThat(ask(bus, basic("ann", "sesame"), "GET", list).statusCode()).isEqualTo(401);
      for (String other :
          new String[] {basic("bob", "let me in"), operator("r", "acme", "admin")}) {
        assertThat(ask(bus, other, "GET", "/api/v1/caller").body())
            .contains("\"account\":\"acme\"", "\"roles\":[\"admin\"]", "\"role\":\"none\"");
        HttpResponse<String> refused = ask(bus, other, "GET", list);
        assertThat(refused.statusCode()).as("of another account").isEqualTo(403);
        assertThat(refused.body()).contains("yours is none");
      }
      String put = list + "?subject=u1";
      assertThat(ask(bus, basic("ann", "open sesame"), "PUT", put).statusCode()).isEqualTo(403);

      try (RawClient first = letIn(bus, token("u1", 20), null);
          RawClient again = letIn(bus, token("u1", 20), null);
          RawClient later = letIn(bus, token("u1", 5), null);
          RawClient other = letIn(bus, token("u2", 20), null);
          RawClient password = letIn(bus, "let me in", "bob")) {
        revoke(bus, root, "acme", "u1", 10);
        assertClosed(first);
        assertClosed(again);
        assertRefused(bus, token("u1", 20));
        assertRefused(bus, token("u1", 15));
        letIn(bus, token("u1", 5), null).close();
        assertThat(later.hasData(200)).as("issued later").isFalse();
        assertThat(other.hasData(1)).as("another client").isFalse();

        assertThat(ask(bus, root, "PUT", list + "?account=acme&subject=bob").statusCode())
            .isEqualTo(200);
        assertClosed(password);
        letIn(bus, "let me in", "bob").close();
      }
      assertThat(ask(bus, root, "GET", list).body())
          .contains("\"subject\":\"u1\"", "\"subject\":\"bob\"");
      assertThat(ask(bus, root, "DELETE", list + "?account=acme&subject=u1").statusCode())
          .isEqualTo(200);
      letIn(bus, token("u1", 20), null).close();

      revoke(bus, root, "ops", "root", 10);
      assertThat(ask(bus, root, "GET", list).statusCode()).as("an operator").isEqualTo(401);
    }
  }

  @Test
  void aRevocationHoldsOnAllBusesAndOnLaterOnes(@TempDir Path directory) throws Exception {
    String[] settings = SignedTokens.settings(directory);
    try (FederatedBuses buses = FederatedBuses.start(directory, 2, settings);
        RawClient there = letIn(buses.bus(1), token("u1", 20), null)) {
      HttpResponse<String> answer =
          ask(
              buses.bus(0),
              null,
              "PUT",
              "/api/v1/revocations?account=acme&subject=u1&before=" + now.minusSeconds(10));
      assertThat(answer.body()).contains("\"keptFor\":\"cluster\"");
      assertClosed(there);
      BusServer late = buses.add(settings);
      awaitRevocation(late);
      assertRefused(late, token("u1", 20));
      letIn(late, token("u1", 5), null).close();
    }
  }

  @Test
  void aBusThatWasCutOffActsOnItWhenItIsBack(@TempDir Path directory) throws Exception {
    String[] settings = SignedTokens.settings(directory);
    try (CuttableProxy way = new CuttableProxy();
        FederatedBuses buses = new FederatedBuses(directory)) {
      buses.add(settings);
      buses.add(settings);
      String[] behindIt = Arrays.copyOf(settings, settings.length + 2);
      behindIt[settings.length] = "cluster.advertised";
      behindIt[settings.length + 1] = "127.0.0.1:" + way.port();
      BusServer cutOff = buses.add(behindIt);
      way.to(cutOff.linkPort());
      buses.awaitLanes();
      try (RawClient there = letIn(cutOff, token("u1", 20), null)) {
        way.cut();
        HttpResponse<String> answer =
            ask(
                buses.bus(0),
                null,
                "PUT",
                "/api/v1/revocations?account=acme&subject=u1&before=" + now.minusSeconds(10));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        awaitRevocation(buses.bus(1));
        assertRefused(buses.bus(1), token("u1", 20));
        letIn(cutOff, token("u1", 20), null).close();
        assertThat(there.hasData(1)).as("it has not heard of it").isFalse();
        way.heal();
        assertClosed(there);
        assertRefused(cutOff, token("u1", 20));
        letIn(cutOff, token("u1", 5), null).close();
      }
    }
  }

  private void awaitRevocation(BusServer bus) {
    WatchedBus.await(
        () -> {
          try {
            return ask(bus, null, "GET", "/api/v1/revocations").body().contains("u1");
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        },
        () -> bus.name() + " has no revocation");
  }
}
