package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Authenticate;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Welcome;
import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Marked secrets go in everywhere; all output of a bus is searched for them. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class SecretsIT {
  private static final String MARK = "markedsecret";

  private static final String SIGNING_SECRET = MARK + "-that-signs-tokens-of-32-bytes";
  private static final String CLAIMS =
      "{\"iss\":\"i\",\"aud\":\"bus\",\"sub\":\"u1\",\"iat\":%d,\"exp\":%d}";

  /** Secrets of which none comes out. */
  private final List<String> secrets = new ArrayList<>(List.of(MARK));

  private final List<String> logged = new CopyOnWriteArrayList<>();
  private Welcome last = new Welcome();

  @Test
  void noSecretComesOut(@TempDir Path directory) throws Exception {
    Path adminToken = Files.writeString(directory.resolve("admin-token"), MARK + "-admin-token\n");
    Files.setPosixFilePermissions(adminToken, PosixFilePermissions.fromString("rw-r--r--"));
    Path users =
        Files.writeString(
            directory.resolve("users"),
            "ann:" + CheapPassword.hash(MARK + "-right-password") + ":ops:operator\n");
    Path signing = Files.writeString(directory.resolve("signing"), SIGNING_SECRET);
    ServerConfig config =
        TestBus.config(
            "auth.users-file",
            users.toString(),
            "auth.jwt.secret-file",
            signing.toString(),
            "auth.jwt.issuer",
            "i",
            "auth.jwt.audience",
            "bus",
            "auth.token",
            MARK + "-client-token",
            "cluster.secret",
            MARK + "-of-the-cluster",
            "admin.account",
            "ops",
            "admin.token-file",
            adminToken.toString(),
            "audit.file",
            directory.resolve("audit.log").toString());
    Logger root = ((LoggerContext) LoggerFactory.getILoggerFactory()).getLogger("ROOT");
    Logger own = root.getLoggerContext().getLogger("io.eventbus");
    Level before = own.getLevel();
    AppenderBase<ILoggingEvent> appender = memory(root);
    own.setLevel(Level.TRACE);
    StringBuilder answers = new StringBuilder(config.toString());
    try (BusServer bus = BusServer.start(config)) {
      refuse(bus, MARK + "-wrong-client-token", null);
      refuse(bus, MARK + "-password", "user");
      try (RawClient client = RawClient.upgraded(bus.uri())) {
        client.send(hello(MARK + "-client-token", null, null, null));
        client.expect(TypeCode.WELCOME);
        answers.append(ask(bus, "GET", "/api/v1/connections", MARK + "-admin-token"));
      }
      try (RawClient client = letIn(bus, MARK + "-right-password", "ann", null, null)) {
        Welcome welcome = last;
        secrets.add(welcome.getResume());
        client.send(
            ControlFrames.encode(
                TypeCode.AUTHENTICATE, new Authenticate(MARK + "-wrong-again", "ann")));
        client.expectProblem();
        refuse(bus, MARK + "-right-password", "ann", welcome.getResume(), MARK + "-change");
        refuse(bus, MARK + "-right-password", "ann", MARK + " no resume", null);
        letIn(bus, MARK + "-right-password", "ann", welcome.getResume(), null).close();
      }
      String token = SignedTokens.sign(CLAIMS.formatted(in(-700), in(600)), SIGNING_SECRET);
      secrets.addAll(List.of(token.split("\\.")).subList(1, 3));
      String expired = SignedTokens.sign(CLAIMS.formatted(in(-700), in(-600)), SIGNING_SECRET);
      secrets.addAll(List.of(expired.split("\\.")).subList(1, 3));
      try (RawClient client = letIn(bus, token, null, null, null)) {
        client.send(ControlFrames.encode(TypeCode.AUTHENTICATE, new Authenticate(token, null)));
        client.expectConfirm();
        client.send(ControlFrames.encode(TypeCode.AUTHENTICATE, new Authenticate(expired, null)));
        client.expectProblem();
        answers.append(ask(bus, "GET", "/api/v1/connections", MARK + "-admin-token"));
        answers.append(ask(bus, "PUT", "/api/v1/revocations?subject=u1", MARK + "-admin-token"));
        client.expectProblem();
      }
      refuse(bus, expired, null);
      refuse(bus, token, null);
      answers.append(ask(bus, "GET", "/api/v1/revocations", token));
      for (String password : List.of(MARK + "-right-password", MARK + "-wrong-password")) {
        String pair = base64("ann:" + password);
        secrets.add(pair);
        answers.append(asked(bus, "GET", "/api/v1/caller", "Basic " + pair));
      }
      for (String path : List.of("/", "/metrics", "/api/v1/bus", "/api/v1/registry")) {
        answers.append(ask(bus, "GET", path, MARK + "-admin-token"));
        answers.append(ask(bus, "GET", path, MARK + "-wrong-admin-token"));
      }
      answers.append(ask(bus, "DELETE", "/api/v1/connections/77", MARK + "-admin-token"));
    } finally {
      own.setLevel(before);
      root.detachAppender(appender);
    }
    assertThat(answers.toString()).contains("token=***", "eventbus_connections", "UNAUTHENTICATED");
    assertThat(answers.toString()).contains("\"role\":\"operator\"", "\"subject\":\"u1\"");
    assertThat(answers.toString()).doesNotContain(secrets);
    assertThat(logged)
        .anyMatch(line -> line.contains("client_connected"))
        .anyMatch(line -> line.contains("client_refused"))
        .anyMatch(
            line ->
                line.contains("\"client\":\"raw\",\"account\":\"\",\"subject\":\"u1\"")
                    && line.contains("showed a token that has expired"))
        .anyMatch(
            line ->
                line.contains("\"status\":401")
                    && line.contains("showed a wrong password ('ann' of account 'ops')"))
        .noneMatch(line -> line.contains("\"subject\":\"user\""))
        .anyMatch(line -> line.contains("client_revoked"))
        .anyMatch(line -> line.contains("\"method\":\"DELETE\""))
        .anyMatch(line -> line.contains("admin.token-file") && line.contains("rw-r--r--"))
        .noneMatch(line -> secrets.stream().anyMatch(line::contains));
  }

  private AppenderBase<ILoggingEvent> memory(Logger root) {
    AppenderBase<ILoggingEvent> appender =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            logged.add(event.getFormattedMessage() + " " + event.getThrowableProxy());
          }
        };
    appender.setContext(root.getLoggerContext());
    appender.start();
    root.addAppender(appender);
    root.getLoggerContext().getLogger("eventbus.audit.lines").setLevel(Level.INFO);
    return appender;
  }

  private static byte[] hello(
      String token, @Nullable String user, @Nullable String resume, @Nullable String change) {
    return ControlFrames.encode(
        TypeCode.HELLO, new Hello("raw", "test", token, resume, Map.of(), change, user, null));
  }

  private RawClient letIn(
      BusServer bus,
      String token,
      @Nullable String user,
      @Nullable String resume,
      @Nullable String change)
      throws Exception {
    RawClient client = RawClient.upgraded(bus.uri());
    client.send(hello(token, user, resume, change));
    byte[] welcome = client.expect(TypeCode.WELCOME).body();
    last = ControlFrames.welcome(ByteBuffer.wrap(welcome), 0, welcome.length);
    return client;
  }

  private static void refuse(BusServer bus, String token, @Nullable String user) throws Exception {
    refuse(bus, token, user, null, null);
  }

  private static void refuse(
      BusServer bus,
      String token,
      @Nullable String user,
      @Nullable String resume,
      @Nullable String change)
      throws Exception {
    try (RawClient client = RawClient.upgraded(bus.uri())) {
      client.send(hello(token, user, resume, change));
      assertThat(client.awaitClose()).isEqualTo(4500);
    }
  }

  private static long in(int seconds) {
    return Instant.now().plusSeconds(seconds).getEpochSecond();
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String ask(BusServer bus, String method, String path, String token)
      throws Exception {
    return asked(bus, method, path, "Bearer " + token);
  }

  private static String asked(BusServer bus, String method, String path, String authorization)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bus.adminPort() + path))
            .header("Authorization", authorization)
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build();
    HttpResponse<String> response =
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    return response.headers().map() + response.body();
  }
}
