package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Hello;
import io.eventbus.server.BusServer;
import io.eventbus.server.config.ServerConfig;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Marked secrets go in everywhere; whatever comes out of a bus is searched for them. */
@ExtendWith(LeakWatch.class)
@Timeout(60)
class SecretsIT {
  private static final String MARK = "markedsecret";

  private final List<String> logged = new CopyOnWriteArrayList<>();

  @Test
  void noSecretComesOut(@TempDir Path directory) throws Exception {
    Path adminToken = Files.writeString(directory.resolve("admin-token"), MARK + "-admin-token\n");
    Files.setPosixFilePermissions(adminToken, PosixFilePermissions.fromString("rw-r--r--"));
    ServerConfig config =
        TestBus.config(
            "auth.token",
            MARK + "-client-token",
            "cluster.secret",
            MARK + "-of-the-cluster",
            "admin.token-file",
            adminToken.toString(),
            "audit.file",
            directory.resolve("audit.log").toString());
    Logger root = ((LoggerContext) LoggerFactory.getILoggerFactory()).getLogger("ROOT");
    Logger own = root.getLoggerContext().getLogger("io.eventbus.server");
    Level before = own.getLevel();
    AppenderBase<ILoggingEvent> appender = memory(root);
    own.setLevel(Level.TRACE);
    StringBuilder answers = new StringBuilder(config.toString());
    try (BusServer bus = BusServer.start(config)) {
      refuse(bus, MARK + "-wrong-client-token", null);
      refuse(bus, MARK + "-password", "user");
      try (RawClient client = RawClient.upgraded(bus.uri())) {
        client.send(hello(MARK + "-client-token", null));
        client.expect(TypeCode.WELCOME);
        answers.append(ask(bus, "GET", "/api/v1/connections", MARK + "-admin-token"));
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
    assertThat(answers.toString()).doesNotContain(MARK);
    assertThat(logged)
        .anyMatch(line -> line.contains("client_connected"))
        .anyMatch(line -> line.contains("client_refused"))
        .anyMatch(line -> line.contains("\"method\":\"DELETE\""))
        .anyMatch(line -> line.contains("admin.token-file") && line.contains("rw-r--r--"))
        .noneMatch(line -> line.contains(MARK));
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

  private static byte[] hello(String token, @Nullable String user) {
    return ControlFrames.encode(
        TypeCode.HELLO, new Hello("raw", "test", token, null, Map.of(), null, user, null));
  }

  private static void refuse(BusServer bus, String token, @Nullable String user) throws Exception {
    try (RawClient client = RawClient.upgraded(bus.uri())) {
      client.send(hello(token, user));
      assertThat(client.awaitClose()).isEqualTo(4500);
    }
  }

  private static String ask(BusServer bus, String method, String path, String token)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bus.adminPort() + path))
            .header("Authorization", "Bearer " + token)
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build();
    HttpResponse<String> response =
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    return response.headers().map() + response.body();
  }
}
