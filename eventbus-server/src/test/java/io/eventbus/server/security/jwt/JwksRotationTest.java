package io.eventbus.server.security.jwt;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.eventbus.server.config.JwtConfig.ClaimPaths;
import io.eventbus.server.security.AccessChanges;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.LoginOutcome;
import io.eventbus.server.security.Revocations;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jose4j.jwt.JwtClaims;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Issuer that changes its key while clients come one after the other. */
@Timeout(180)
class JwksRotationTest {
  private static final int CLIENTS = 200;

  /** Number of clients: less than may wait to be checked. */
  private static final int AT_ONCE = 100;

  private final AtomicLong nanos = new AtomicLong();
  private volatile String set = Tokens.set(Map.of("old", Tokens.RSA));

  private static String token(int number, boolean isNew) {
    JwtClaims claims = Tokens.claims();
    claims.setSubject("u" + number);
    return Tokens.signed(
        claims,
        "RS256",
        (isNew ? Tokens.OTHER_RSA : Tokens.RSA).getPrivate(),
        isNew ? "new" : "old");
  }

  @Test
  void keyRotationRefusesNoClient() throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/keys",
        exchange -> {
          byte[] bytes = set.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/keys");
    try (JwksSource source = new JwksSource(url, AccessChanges.NONE, nanos::get);
        JwtLogin login =
            new JwtLogin(
                new JwtVerifier(
                    Tokens.ISSUER,
                    Tokens.AUDIENCE,
                    List.of("RS256"),
                    ClaimPaths.NONE,
                    Tokens.clock()),
                new ConfiguredKeys(List.of(), source),
                source,
                new Revocations(),
                Tokens.clock())) {
      source.lookAgain().join();
      Semaphore room = new Semaphore(AT_ONCE);
      List<CompletableFuture<LoginOutcome>> answers = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        if (i == CLIENTS / 2) {
          // Longer after the last fetch than the pause that a flood of wrong keys has to keep.
          nanos.addAndGet(Duration.ofSeconds(31).toNanos());
          set = Tokens.set(Map.of("old", Tokens.RSA, "new", Tokens.OTHER_RSA));
        }
        // Both are in use for a while.
        String token = token(i, i >= CLIENTS / 2 && i % 4 != 0);
        assertThat(room.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<LoginOutcome> answer = login.check(new Credentials(token, "", false));
        answers.add(answer.whenComplete((outcome, failure) -> room.release()));
      }
      for (CompletableFuture<LoginOutcome> answer : answers) {
        assertThat(answer.get(60, TimeUnit.SECONDS)).isInstanceOf(LoginOutcome.Proved.class);
      }
    } finally {
      server.stop(0);
    }
  }
}
