package io.eventbus.server.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.it.TestCertificate;
import io.eventbus.server.admin.LateAnswers.Place;
import io.eventbus.server.admission.AuthenticationFailures;
import io.eventbus.server.admission.ClientAddress;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.config.AdminAccessConfig;
import io.eventbus.server.config.AdminAuth;
import io.eventbus.server.config.AdminConfig;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FailedLogin;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.LoginMethod;
import io.eventbus.server.security.LoginOutcome;
import io.eventbus.server.security.Origin;
import io.eventbus.server.security.Origin.Standing;
import io.eventbus.server.security.PermissionPolicy;
import io.eventbus.server.tls.CertificateWatch;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.helpers.NOPLogger;

/** Permissions at the administration port. */
@Timeout(30)
class AdminAccessTest {
  private static final String TOKEN = "0123456789abcdef";

  private final FakeBus bus = new FakeBus(3);
  private final Advisories advisories = new Advisories();
  private final List<Advisory> told = new CopyOnWriteArrayList<>();
  private @Nullable AdminServer server;

  AdminAccessTest() {
    advisories.audit(told::add);
  }

  @AfterEach
  void stop() {
    if (server != null) {
      server.close();
    }
  }

  private static AdminConfig config(AdminAccessConfig access) {
    return new AdminConfig(true, "127.0.0.1", 0, List.of(), access);
  }

  private static AdminAccessConfig withToken(boolean metricsOpen) {
    return new AdminAccessConfig(
        AdminAuth.AUTO,
        AdminAccessConfig.token(TOKEN, null),
        "ops",
        metricsOpen,
        null,
        null,
        false);
  }

  private AdminServer start(AdminAccessConfig access, LoginMethod... operators) throws IOException {
    AdminServer started =
        AdminServer.start(config(access), bus::health, advisories, AdminServer.MAX_CONNECTIONS);
    server = started;
    started.serve(bus, List.of(operators), PermissionPolicy.NOTHING);
    return started;
  }

  private HttpResponse<String> send(String method, String path, @Nullable String authorization)
      throws Exception {
    return send(HttpClient.newHttpClient(), "http", method, path, authorization);
  }

  private HttpResponse<String> send(
      HttpClient client, String scheme, String method, String path, @Nullable String authorization)
      throws Exception {
    AdminServer running = Objects.requireNonNull(server);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(scheme + "://127.0.0.1:" + running.port() + path))
            .timeout(Duration.ofSeconds(10))
            .method(method, HttpRequest.BodyPublishers.noBody());
    if (authorization != null) {
      request.header("Authorization", authorization);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        "GET, /healthz, none, 200",
        "GET, /healthz, Bearer wrong, 200",
        "GET, /readyz, none, 200",
        "GET, /metrics, none, 401",
        "GET, /metrics, Bearer 0123456789abcdef, 200",
        "GET, /, none, 401",
        "GET, /api/v1/bus, none, 401",
        "GET, /api/v1/bus, Bearer 0123456789abcdef, 200",
        "GET, /api/v1/bus, bearer 0123456789abcdef, 200",
        "GET, /api/v1/bus, Bearer 0123456789abcdeF, 401",
        "GET, /api/v1/bus, Bearer, 401",
        "GET, /api/v1/bus, Basic MDEyMzQ1Njc4OWFiY2RlZg==, 401",
        "GET, /api/v1/nothing, none, 401",
        "POST, /api/v1/bus, none, 401",
        "GET, /api/v1/nothing, Bearer 0123456789abcdef, 404",
        "DELETE, /api/v1/connections/1, none, 401",
        "DELETE, /api/v1/connections/1, Bearer 0123456789abcdef, 202",
        "PUT, /api/v1/drains/bus-2, none, 401",
        "PUT, /api/v1/registry/snapshot, none, 401",
        "GET, /api/v1/registry/backup, none, 401"
      })
  void withATokenEverythingButHealthNeedsIt(
      String method, String path, @Nullable String authorization, int status) throws Exception {
    start(withToken(false));
    HttpResponse<String> response = send(method, path, authorization);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    assertThat(response.headers().firstValue("WWW-Authenticate").isPresent())
        .isEqualTo(status == 401);
    assertThat(response.body()).doesNotContain(TOKEN);
  }

  private static LoginMethod users() {
    return new LoginMethod() {
      @Override
      public boolean takes(Credentials credentials) {
        return credentials.user() != null;
      }

      @Override
      public CompletableFuture<LoginOutcome> check(Credentials credentials) {
        String user = String.valueOf(credentials.user());
        if (user.equals("late")) {
          return CompletableFuture.completedFuture(new LoginOutcome.Unavailable("busy"));
        }
        if (!"secret".equals(credentials.token())) {
          return CompletableFuture.completedFuture(
              new LoginOutcome.Wrong(new FailedLogin("showed a wrong password", "ops", user)));
        }
        String account =
            user.startsWith("tenant-") ? "acme" : user.startsWith("none-") ? "" : "ops";
        String role = user.replaceFirst("tenant-|none-", "");
        return CompletableFuture.completedFuture(
            new LoginOutcome.Proved(
                new Identity(
                    account,
                    user,
                    AuthenticationMethod.PASSWORD,
                    Set.copyOf(List.of(role, "trader")),
                    Map.of(),
                    Map.of(),
                    Map.of(),
                    null,
                    null)));
      }
    };
  }

  @ParameterizedTest
  @CsvSource({
    "viewer, secret, GET, /api/v1/bus, 200",
    "viewer, secret, DELETE, /api/v1/connections/1, 403",
    "operator, secret, DELETE, /api/v1/connections/1, 202",
    "operator, secret, PUT, /api/v1/registry/snapshot, 403",
    "operator, secret, GET, /api/v1/registry/backup, 403",
    "operator, secret, GET, /api/v1/registry, 200",
    "trader, secret, GET, /api/v1/bus, 403",
    "tenant-admin, secret, GET, /api/v1/bus, 403",
    "none-admin, secret, GET, /api/v1/bus, 403",
    "viewer, wrong, GET, /api/v1/bus, 401",
    "late, secret, GET, /api/v1/bus, 503"
  })
  void usersHaveTheirRoles(String user, String password, String method, String path, int status)
      throws Exception {
    start(withToken(false), users());
    String pair = user + ":" + password;
    String basic =
        "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
    HttpResponse<String> response = send(method, path, basic);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    if (status == 403) {
      assertThat(response.body()).contains("this needs the role ");
    }
    if (status == 401) {
      assertThat(response.headers().allValues("WWW-Authenticate")).hasSize(2);
      assertThat(told)
          .singleElement()
          .isInstanceOfSatisfying(
              Advisory.AdminAction.class,
              action -> {
                assertThat(action.caller()).isEmpty();
                assertThat(action.reason())
                    .isEqualTo("showed a wrong password ('viewer' of account 'ops')");
              });
    }
    if (!path.startsWith("/api/v1/bus") && status != 200) {
      assertThat(told)
          .singleElement()
          .isInstanceOfSatisfying(
              Advisory.AdminAction.class,
              action -> {
                assertThat(action.caller()).isEqualTo(user);
                assertThat(action.target()).isEqualTo(path);
                assertThat(action.status()).isEqualTo(status);
              });
    }
  }

  @Test
  void operatorsAddressesAreKnownToThePasswordCheck() throws Exception {
    List<Origin> seen = new CopyOnWriteArrayList<>();
    LoginMethod users = users();
    start(
        withToken(false),
        new LoginMethod() {
          @Override
          public boolean takes(Credentials credentials) {
            return users.takes(credentials);
          }

          @Override
          public CompletableFuture<LoginOutcome> check(Credentials credentials) {
            seen.add(Objects.requireNonNull(credentials.origin()));
            return users.check(credentials);
          }
        });
    String wrong = "Basic " + Base64.getEncoder().encodeToString("u:wrong".getBytes(UTF_8));
    for (int i = 0; i <= AuthenticationFailures.PROMPT_ANSWERS; i++) {
      assertThat(send("GET", "/api/v1/bus", wrong).statusCode()).isEqualTo(401);
    }
    ClientAddress here = ClientAddress.of(InetAddress.getLoopbackAddress());
    assertThat(seen).hasSize(AuthenticationFailures.PROMPT_ANSWERS + 1);
    assertThat(seen.get(0)).isEqualTo(new Origin(here, false, Standing.UNKNOWN));
    assertThat(seen.get(1)).isEqualTo(new Origin(here, false, Standing.FAILED));
    assertThat(seen.get(seen.size() - 1)).isEqualTo(new Origin(here, true, Standing.FAILED));
  }

  @ParameterizedTest
  @ValueSource(strings = {"admin", "tenant-admin", "none-admin"})
  void withoutAnAccountOfOperatorsUsersHaveNoRole(String user) throws Exception {
    start(
        new AdminAccessConfig(
            AdminAuth.AUTO, AdminAccessConfig.token(TOKEN, null), null, false, null, null, false),
        users());
    String basic =
        "Basic "
            + Base64.getEncoder()
                .encodeToString((user + ":secret").getBytes(StandardCharsets.UTF_8));
    assertThat(send("GET", "/api/v1/bus", basic).statusCode()).isEqualTo(403);
    assertThat(send("GET", "/api/v1/caller", basic).body()).contains("\"role\":\"none\"");
    assertThat(send("GET", "/api/v1/bus", "Bearer " + TOKEN).statusCode()).isEqualTo(200);
  }

  @Test
  void metricsMayBeThereForAll() throws Exception {
    start(withToken(true));
    assertThat(send("GET", "/metrics", null).statusCode()).isEqualTo(200);
    assertThat(send("GET", "/api/v1/bus", null).statusCode()).isEqualTo(401);
  }

  @Test
  void eachRoleMayDoWhatThoseBeforeItMay() {
    assertThat(AdminRole.ADMIN.includes(AdminRole.VIEWER)).isTrue();
    assertThat(AdminRole.OPERATOR.includes(AdminRole.OPERATOR)).isTrue();
    assertThat(AdminRole.VIEWER.includes(AdminRole.OPERATOR)).isFalse();
    assertThat(AdminRole.OPERATOR.includes(AdminRole.ADMIN)).isFalse();
  }

  @Test
  void errorsOfTheTokenFileDoNotShowTheToken(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("token");
    Files.writeString(file, "short\n");
    AdminAccessConfig access =
        new AdminAccessConfig(
            AdminAuth.REQUIRED,
            AdminAccessConfig.token(null, file),
            "ops",
            false,
            null,
            null,
            false);
    assertThatThrownBy(() -> AdminServer.check(config(access)))
        .hasMessage("admin.token-file: 5 characters (expected: >= 16), in file " + file);
    Files.delete(file);
    assertThatThrownBy(() -> AdminServer.check(config(access)))
        .hasMessageContaining("admin.token-file: \"" + file + "\" cannot be read");
    Files.writeString(file, TOKEN + "\n");
    start(access);
    assertThat(send("GET", "/api/v1/bus", "Bearer " + TOKEN).statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        "admin.host=0.0.0.0, admin.host: \"0.0.0.0\" (expected: 127.0.0.1",
        "admin.host=10.0.0.1 admin.token=0123456789abcdef, admin.tls-certificate and admin.tls-key",
        "admin.host=0.0.0.0 admin.plaintext=true, auth.users-file",
        "admin.host=0.0.0.0 admin.plaintext=true auth.users-file=x, or admin.account with"
            + " auth.users",
        "admin.host=0.0.0.0 admin.plaintext=true admin.account=ops, or admin.account with"
            + " auth.users",
        "admin.host=0.0.0.0 admin.plaintext=true auth.users-file=x admin.account=ops, none",
        "admin.auth=required auth.users-file=x, admin.auth: required (expected: admin.token-file",
        "admin.account=$system, admin.account: \"$system\" (expected: up to 64 letters",
        "admin.host=0.0.0.0 admin.plaintext=true admin.token=0123456789abcdef, none",
        "admin.host=0.0.0.0 admin.enabled=false, none",
        "admin.host=::1, none",
        "admin.auth=required, admin.auth: required (expected: admin.token-file",
        "admin.token=short, admin.token: 5 characters (expected: >= 16)",
        "admin.token=0123456789abcdef admin.token-file=x, admin.token-file: \"x\" (expected: none",
        "admin.tls-key=x, admin.tls-certificate: none (expected: a file"
      })
  void strangersAreKeptOut(String settings, @Nullable String problem) {
    Map<String, String> values = new HashMap<>();
    for (String setting : Arrays.asList(settings.split(" ", -1))) {
      String[] pair = setting.split("=", 2);
      values.put(pair[0], pair[1]);
    }
    if (problem == null) {
      assertThat(ServerConfig.of(values).toString()).doesNotContain(TOKEN);
    } else {
      assertThatThrownBy(() -> ServerConfig.of(values)).hasMessageContaining(problem);
    }
  }

  @Test
  void guessersAreAnsweredLateAndNotWithoutBound() throws Exception {
    List<Runnable> scheduled = new ArrayList<>();
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(1) {
          @Override
          public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            scheduled.add(task);
            return super.schedule(() -> {}, 0, unit);
          }
        };
    RateLimitedLog nowhere = new RateLimitedLog(NOPLogger.NOP_LOGGER);
    try (LateAnswers late =
        new LateAnswers(
            new AuthenticationFailures(nowhere, () -> 0L), new ProvedAddresses(() -> 0L), timer)) {
      InetAddress guesser = InetAddress.getByName("192.0.2.1");
      List<String> answers = new ArrayList<>();
      for (int i = 0; i < AuthenticationFailures.PROMPT_ANSWERS; i++) {
        late.answer(entered(late, "192.0.2.1"), "is wrong", () -> answers.add("prompt"));
      }
      assertThat(answers).hasSize(AuthenticationFailures.PROMPT_ANSWERS);
      for (int i = 0; i < LateAnswers.MAX_OF_ADDRESS; i++) {
        late.answer(entered(late, "192.0.2.1"), "is wrong", () -> answers.add("late"));
      }
      assertThat(answers).doesNotContain("late");
      assertThat(late.enter(guesser)).isNull();
      assertThat(late.enter(InetAddress.getByName("192.0.2.2"))).isNotNull();
      scheduled.get(0).run();
      assertThat(answers).contains("late");
      Place place = entered(late, "192.0.2.1");
      assertThat(late.enter(guesser)).isNull();
      late.leave(place);
      assertThat(late.enter(guesser)).isNotNull();
    }
  }

  private static LateAnswers lateAnswers() {
    return new LateAnswers(
        new AuthenticationFailures(new RateLimitedLog(NOPLogger.NOP_LOGGER), () -> 0L),
        new ProvedAddresses(() -> 0L),
        new ScheduledThreadPoolExecutor(1));
  }

  private static Place entered(LateAnswers late, String address) throws IOException {
    Place place = late.enter(InetAddress.getByName(address));
    assertThat(place).as(address).isNotNull();
    return Objects.requireNonNull(place);
  }

  @Test
  void guessersTakeNoPlaceOfThoseWhoHaveNotFailed() throws Exception {
    try (LateAnswers late = lateAnswers()) {
      late.prove(InetAddress.getByName("198.51.100.1"));
      int addresses = LateAnswers.MAX_OF_STANDING / LateAnswers.MAX_OF_ADDRESS;
      for (int a = 0; a < addresses; a++) {
        late.answer(entered(late, "192.0.2." + a), "is wrong", () -> {});
      }
      for (int i = 0; i < LateAnswers.MAX_OF_STANDING; i++) {
        assertThat(late.origin(entered(late, "192.0.2." + i % addresses)).standing())
            .isEqualTo(Standing.FAILED);
      }
      late.answer(entered(late, "192.0.2.100"), "is wrong", () -> {});
      assertThat(late.enter(InetAddress.getByName("192.0.2.100"))).isNull();
      Place place = entered(late, "198.51.100.2");
      assertThat(late.origin(place).standing()).isEqualTo(Standing.UNKNOWN);
      late.leave(place);
      for (int i = 0; i < LateAnswers.MAX_OF_STANDING; i++) {
        entered(late, "203.0.113." + i % addresses);
      }
      assertThat(late.enter(InetAddress.getByName("198.51.100.2"))).isNull();
      Place proved = entered(late, "198.51.100.1");
      late.answer(proved, "is wrong", () -> {});
      assertThat(late.origin(entered(late, "198.51.100.1")).standing())
          .as("a typing error does not count where operators are")
          .isEqualTo(Standing.PROVED);
    }
  }

  @Test
  void aNetworkOfIpv6IsOneAddress() throws Exception {
    try (LateAnswers late = lateAnswers()) {
      for (int i = 0; i < LateAnswers.MAX_OF_ADDRESS; i++) {
        entered(late, "2001:db8::" + i);
      }
      assertThat(late.enter(InetAddress.getByName("2001:db8::99"))).isNull();
      entered(late, "2001:db8:0:1::1");
    }
  }

  @Test
  void operatorsAddressesAreForgottenAfterADay() throws Exception {
    AtomicLong now = new AtomicLong(Long.MAX_VALUE - 7);
    ProvedAddresses proved = new ProvedAddresses(now::get);
    ClientAddress first = ClientAddress.of(InetAddress.getByName("192.0.2.1"));
    proved.add(first);
    now.addAndGet(ProvedAddresses.LIFE.toNanos() - 1);
    assertThat(proved.contains(first)).isTrue();
    now.incrementAndGet();
    assertThat(proved.contains(first)).isFalse();
    proved.add(first);
    for (int i = 0; i < ProvedAddresses.MAX_ADDRESSES; i++) {
      proved.add(new ClientAddress(true, i));
    }
    assertThat(proved.contains(first)).isFalse();
  }

  private static Identity operator() {
    return new Identity(
        "ops",
        "eve",
        AuthenticationMethod.JWT,
        Set.of("operator"),
        Map.of(),
        Map.of(),
        Map.of(),
        null,
        null);
  }

  /** Each holds a thread: credentials under check count like those that wait. */
  @Test
  void credentialsThatAreBeingLookedAtAreBounded() throws Exception {
    CountDownLatch looking = new CountDownLatch(LateAnswers.MAX_OF_ADDRESS);
    CompletableFuture<LoginOutcome> verdict = new CompletableFuture<>();
    AdminServer running =
        start(
            withToken(false),
            new LoginMethod() {
              @Override
              public boolean takes(Credentials credentials) {
                return true;
              }

              @Override
              public @Nullable Identity known(Credentials credentials) {
                return "known".equals(credentials.token()) ? operator() : null;
              }

              @Override
              public CompletableFuture<LoginOutcome> check(Credentials credentials) {
                looking.countDown();
                return verdict;
              }
            });
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + running.port() + "/api/v1/bus"))
            .header("Authorization", "Bearer other")
            .build();
    HttpClient client = HttpClient.newHttpClient();
    List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
    for (int i = 0; i < LateAnswers.MAX_OF_ADDRESS; i++) {
      answers.add(client.sendAsync(request, HttpResponse.BodyHandlers.ofString()));
    }
    assertThat(looking.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(send("GET", "/api/v1/bus", "Bearer other").statusCode()).isEqualTo(429);
    assertThat(send("GET", "/api/v1/bus", "Bearer " + TOKEN).statusCode())
        .as("the token of administrators needs no place")
        .isEqualTo(200);
    assertThat(send("GET", "/api/v1/bus", "Bearer known").statusCode()).isEqualTo(200);
    assertThat(send("GET", "/healthz", null).statusCode()).isEqualTo(200);
    verdict.complete(new LoginOutcome.Unavailable("busy"));
    for (CompletableFuture<HttpResponse<String>> answer : answers) {
      assertThat(answer.get(10, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
    }
    assertThat(send("GET", "/api/v1/bus", "Bearer " + TOKEN).statusCode()).isEqualTo(200);
  }

  @Test
  void requestsBeyondThoseOfAnAddressAreRefusedAndHealthIsNot() throws Exception {
    CountDownLatch known = new CountDownLatch(1);
    AdminServer running =
        start(
            withToken(false),
            new LoginMethod() {
              @Override
              public boolean takes(Credentials credentials) {
                return true;
              }

              @Override
              public Identity known(Credentials credentials) {
                try {
                  known.await();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
                return operator();
              }

              @Override
              public CompletableFuture<LoginOutcome> check(Credentials credentials) {
                throw new UnsupportedOperationException();
              }
            });
    List<String> request =
        List.of(
            "GET /api/v1/bus HTTP/1.1",
            "Host: localhost",
            "Authorization: Bearer other",
            "Connection: close");
    String text = String.join("\r\n", request) + "\r\n\r\n";
    List<Socket> callers = new ArrayList<>();
    try {
      for (int i = 0; i <= AnswerThread.MAX_OF_ADDRESS + 1; i++) {
        Socket caller = new Socket(InetAddress.getLoopbackAddress(), running.port());
        callers.add(caller);
        caller.getOutputStream().write(text.getBytes(UTF_8));
      }
      while (!isAnyAnswered(callers)) {
        Thread.onSpinWait();
      }
      assertThat(send("GET", "/healthz", null).statusCode()).isEqualTo(200);
      known.countDown();
      int refused = 0;
      for (Socket caller : callers) {
        String answer = new String(caller.getInputStream().readAllBytes(), UTF_8);
        if (answer.startsWith("HTTP/1.1 503")) {
          assertThat(answer).contains("Retry-After: 1", "BUSY");
          refused++;
        } else {
          assertThat(answer).startsWith("HTTP/1.1 200");
        }
      }
      assertThat(refused).isEqualTo(1);
    } finally {
      for (Socket caller : callers) {
        caller.close();
      }
    }
  }

  private static boolean isAnyAnswered(List<Socket> callers) throws IOException {
    for (Socket caller : callers) {
      if (caller.getInputStream().available() > 0) {
        return true;
      }
    }
    return false;
  }

  @Test
  void overTlsAddressesThatBeginARequestKeepNobodyAway() throws Exception {
    try (TestCertificate certificate = TestCertificate.make()) {
      AdminServer encrypted =
          start(
              new AdminAccessConfig(
                  AdminAuth.AUTO,
                  AdminAccessConfig.token(TOKEN, null),
                  "ops",
                  false,
                  certificate.certificatePem(),
                  certificate.keyPem(),
                  false));
      List<Socket> crowd = new ArrayList<>();
      try {
        for (int i = 0; i < 160; i++) {
          Socket socket =
              new Socket(
                  InetAddress.getLoopbackAddress(),
                  encrypted.port(),
                  InetAddress.getByName("127.0.0." + (2 + i % 40)),
                  0);
          crowd.add(socket);
          // The first octet of a record of a handshake.
          socket.getOutputStream().write(22);
        }
        HttpClient open = HttpClient.newBuilder().sslContext(certificate.trusting()).build();
        assertThat(send(open, "https", "GET", "/healthz", null).statusCode()).isEqualTo(200);
      } finally {
        for (Socket socket : crowd) {
          socket.close();
        }
      }
    }
  }

  /** They would hold it for nothing. */
  @ParameterizedTest
  @CsvSource({"/healthz, 200", "/api/v1/bus, 401"})
  void strangersDoNotKeepTheirConnection(String path, int status) throws Exception {
    AdminServer running = start(withToken(false));
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), running.port())) {
      socket.setSoTimeout(5_000);
      String request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .startsWith("HTTP/1.1 " + status);
    }
  }

  @Test
  void aGuesserHearsTheSameLater() throws Exception {
    start(withToken(false));
    for (int i = 0; i <= AuthenticationFailures.PROMPT_ANSWERS; i++) {
      HttpResponse<String> response = send("GET", "/api/v1/bus", "Bearer wrong");
      assertThat(response.statusCode()).isEqualTo(401);
      assertThat(response.body()).contains("UNAUTHENTICATED", "the credentials are wrong");
    }
    assertThat(send("GET", "/api/v1/bus", "Bearer " + TOKEN).statusCode()).isEqualTo(200);
  }

  private String metrics(HttpClient client) throws Exception {
    return send(client, "https", "GET", "/metrics", "Bearer " + TOKEN).body();
  }

  @Test
  void overTlsANewCertificateIsForNewConnections(@TempDir Path directory) throws Exception {
    try (TestCertificate first = TestCertificate.make();
        TestCertificate second = TestCertificate.make()) {
      Path certificate = directory.resolve("certificate.pem");
      Path key = directory.resolve("key.pem");
      Files.copy(first.certificatePem(), certificate);
      Files.copy(first.keyPem(), key);
      AdminServer encrypted =
          start(
              new AdminAccessConfig(
                  AdminAuth.AUTO,
                  AdminAccessConfig.token(TOKEN, null),
                  "ops",
                  false,
                  certificate,
                  key,
                  false));
      HttpClient open = HttpClient.newBuilder().sslContext(first.trusting()).build();
      assertThat(metrics(open)).contains("eventbus_ready");
      Files.copy(second.certificatePem(), certificate, StandardCopyOption.REPLACE_EXISTING);
      Files.copy(second.keyPem(), key, StandardCopyOption.REPLACE_EXISTING);
      try (CertificateWatch watch =
          new CertificateWatch(
              List.of(encrypted.tls().orElseThrow()), new Advisories(), Clock.systemUTC())) {
        watch.look();
        assertThat(watch.secondsToExpiry().get("admin")).isPositive();
      }
      assertThat(metrics(open)).contains("eventbus_ready");
      HttpClient renewed = HttpClient.newBuilder().sslContext(second.trusting()).build();
      assertThat(send(renewed, "https", "GET", "/api/v1/bus", "Bearer " + TOKEN).statusCode())
          .isEqualTo(200);
      assertThat(metrics(renewed)).contains("eventbus_admin_tls_failures_total 0.0");
      try (SSLSocket outdated =
          (SSLSocket)
              first
                  .trusting()
                  .getSocketFactory()
                  .createSocket(InetAddress.getLoopbackAddress(), encrypted.port())) {
        assertThatThrownBy(outdated::startHandshake).isInstanceOf(SSLException.class);
      }
      // The bus hears of it when its thread has read the client's alert.
      while (!metrics(renewed).contains("eventbus_admin_tls_failures_total 1.0")) {
        Thread.onSpinWait();
      }
    }
  }
}
