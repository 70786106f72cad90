package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Problem;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Authentication of clients over the wire. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class AuthenticationIT {
  private static final String AVRO = "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n";

  private static String token(String audience) {
    return token(audience, 600);
  }

  private static String token(String audience, int seconds) {
    return SignedTokens.sign(
        "{\"iss\":\"i\",\"aud\":\""
            + audience
            + "\",\"sub\":\"u1\",\"iat\":"
            + Instant.now().minusSeconds(600).getEpochSecond()
            + ",\"exp\":"
            + Instant.now().plusSeconds(seconds).getEpochSecond()
            + "}");
  }

  private static void letIn(URI bus, String user, String token) {
    var builder = EventBusClient.builder().url(bus.toString());
    try (EventBusClient client =
        (user.isEmpty() ? builder.token(token) : builder.credentials(user, token)).connect()) {
      assertThat(client.connection()).isPresent();
    }
  }

  private static void refused(URI bus, String user, String token) {
    var builder = EventBusClient.builder().url(bus.toString());
    assertThatExceptionOfType(EventBusException.class)
        .isThrownBy(
            () ->
                (user.isEmpty() ? builder.token(token) : builder.credentials(user, token))
                    .connect())
        .withMessageContaining("the credentials in Hello are not ones that this bus accepts");
  }

  @Test
  void passwordsAndTokens(@TempDir Path directory) throws Exception {
    Path users =
        Files.writeString(
            directory.resolve("users"), "alice:" + CheapPassword.hash("open sesame") + ":acme:\n");
    try (WatchedBus bus =
        WatchedBus.alone(
            SignedTokens.settings(
                directory, "auth.users-file", users.toString(), "auth.token", "shared"))) {
      letIn(bus.uri(), "alice", "open sesame");
      refused(bus.uri(), "alice", "shared");
      letIn(bus.uri(), "", "shared");
      letIn(bus.uri(), "", token("bus"));
      refused(bus.uri(), "", token("other"));
      refused(bus.uri(), "", "share");
    }
  }

  /** Each of these tokens holds for less than two seconds, and is requested after the last. */
  @Test
  void aTokenIsReplacedOnTheConnectionThatThereIs(@TempDir Path directory) throws Exception {
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    CountDownLatch asked = new CountDownLatch(3);
    ConnectionListener listener =
        new ConnectionListener() {
          @Override
          public void problem(EventBusException problem) {
            told.add("problem " + problem.getMessage());
          }

          @Override
          public void disconnected(int code, String reason, boolean willReconnect) {
            told.add("disconnected " + code);
          }
        };
    try (WatchedBus bus = WatchedBus.alone(SignedTokens.settings(directory));
        EventBusClient client =
            EventBusClient.builder()
                .url(bus.uri().toString())
                .listener(listener)
                .tokens(
                    () -> {
                      asked.countDown();
                      return CompletableFuture.completedFuture(token("bus", 2));
                    })
                .connect()) {
      String session = client.connection().orElseThrow().session();
      // The third is asked for only when the bus has taken the second one.
      assertThat(asked.await(60, TimeUnit.SECONDS)).isTrue();
      assertThat(told).isEmpty();
      assertThat(client.connection().orElseThrow().session()).isEqualTo(session);
    }
  }

  /** The bus does not know the proxy, which passes strangers on from loopback. */
  @Test
  void aClientBehindAProxyIsNotLocal() throws Exception {
    try (WatchedBus bus = WatchedBus.alone()) {
      try (RawClient local = RawClient.connected(bus.uri())) {
        assertThat(local.closeCode).isEqualTo(-1);
      }
      for (String header :
          new String[] {
            "X-Forwarded-For: 203.0.113.7", "Forwarded: for=203.0.113.7", "X-Real-IP: 203.0.113.7"
          }) {
        try (RawClient client = RawClient.tcp(bus.uri()).upgrade("/bus", AVRO + header + "\r\n")) {
          assertNotOfThisMachine(client);
        }
      }
    }
    // Nor does this bus know where the client is.
    try (WatchedBus bus = WatchedBus.alone("listen.proxies", "127.0.0.0/8");
        RawClient client = RawClient.tcp(bus.uri())) {
      client.raw("PROXY UNKNOWN\r\n".getBytes(StandardCharsets.US_ASCII));
      client.upgrade("/bus", AVRO);
      assertNotOfThisMachine(client);
    }
  }

  private static void assertNotOfThisMachine(RawClient client) throws Exception {
    client.send(
        ControlFrames.encode(
            TypeCode.HELLO, new Hello("raw", "test", null, null, Map.of(), null, null, null)));
    Problem problem = client.expectProblem();
    assertThat(problem.getCode()).isEqualTo(ErrorCode.UNAUTHENTICATED);
    assertThat(problem.getMessage()).contains("auth.anonymous=everyone");
    assertThat(client.awaitClose()).isEqualTo(4500);
  }
}
