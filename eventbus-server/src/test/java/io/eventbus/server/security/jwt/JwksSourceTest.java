package io.eventbus.server.security.jwt;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.eventbus.server.security.AccessChanges;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(180)
class JwksSourceTest {
  private final AtomicLong now = new AtomicLong();
  private final AtomicInteger requests = new AtomicInteger();
  private volatile int status = 200;
  private volatile String body = set("first", Tokens.RSA);
  private volatile @Nullable String cacheControl = "public, max-age=1200";
  private final Queue<String> told = new ConcurrentLinkedQueue<>();
  private final AccessChanges changes =
      new AccessChanges() {
        @Override
        public void changed(String key, String summary) {
          told.add(key + ": " + summary);
        }

        @Override
        public void refused(String key, String reason) {
          throw new AssertionError(reason);
        }
      };
  private HttpServer server;
  private JwksSource source;

  private static String set(String kid, KeyPair pair) {
    return Tokens.set(Map.of(kid, pair));
  }

  @BeforeEach
  void serve() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/keys",
        exchange -> {
          requests.incrementAndGet();
          byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
          String control = cacheControl;
          if (control != null) {
            exchange.getResponseHeaders().set("Cache-Control", control);
          }
          if (status == 302) {
            exchange.getResponseHeaders().set("Location", "/moved");
          }
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.createContext(
        "/moved",
        exchange -> {
          byte[] bytes = set("moved", Tokens.OTHER_RSA).getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    source =
        new JwksSource(
            URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/keys"),
            changes,
            now::get);
    source.lookAgain().join();
  }

  @AfterEach
  void stop() {
    source.close();
    server.stop(0);
  }

  private List<String> kids() {
    return source.keys().stream().map(key -> String.valueOf(key.id())).toList();
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }

  /** Ends when a fetch that was begun has ended. */
  private void refresh() {
    source.refresh();
    source.lookAgain().join();
  }

  @Test
  void keysAreFetchedAgainAtHalfOfTheirAge() {
    assertThat(kids()).containsExactly("first");
    body = set("second", Tokens.OTHER_RSA);
    pass(Duration.ofMinutes(10).minusNanos(1));
    source.refresh();
    assertThat(requests).hasValue(1);
    pass(Duration.ofNanos(1));
    refresh();
    assertThat(requests).hasValue(2);
    assertThat(kids()).containsExactly("second");
  }

  @Test
  void aFetchThatCannotEvenBeginIsTriedAgain() {
    try (JwksSource broken =
        new JwksSource(URI.create("nothing://127.0.0.1/keys"), changes, now::get)) {
      for (int i = 0; i < 2; i++) {
        pass(JwksSource.MAX_PAUSE);
        assertThat(broken.lookAgain()).isCompletedWithValue(false);
      }
      assertThat(broken.keys()).isEmpty();
    }
  }

  @Test
  void otherKeysAreTold() {
    pass(Duration.ofMinutes(10));
    refresh();
    assertThat(requests).hasValue(2);
    assertThat(told).as("the same again").isEmpty();
    body = set("second", Tokens.OTHER_RSA);
    pass(Duration.ofMinutes(10));
    refresh();
    assertThat(told).containsExactly("auth.jwt.jwks-url: 1 keys: second");
  }

  @Test
  void theAgeIsThatOfTheLastFetchThatBroughtKeys() {
    pass(Duration.ofMinutes(10));
    assertThat(source.age()).isEqualTo(Duration.ofMinutes(10));
    status = 500;
    refresh();
    assertThat(source.age()).isEqualTo(Duration.ofMinutes(10));
    status = 200;
    pass(JwksSource.MAX_PAUSE);
    refresh();
    assertThat(source.age()).isZero();
  }

  /** An issuer may sign with a new key as soon as it has published it. */
  @Test
  void anUnknownKeyIsLookedForSoonAndEverMoreRarely() {
    Object version = source.version();
    for (long pause : new long[] {1, 2, 4, 8, 16, 30, 30}) {
      int before = requests.get();
      pass(Duration.ofSeconds(pause).minusNanos(1));
      for (int i = 0; i < 100; i++) {
        assertThat(source.lookAgain().join()).as("fetched before").isFalse();
      }
      assertThat(requests).hasValue(before);
      pass(Duration.ofNanos(1));
      assertThat(source.lookAgain().join()).as("fetched now").isTrue();
      assertThat(requests).hasValue(before + 1);
    }
    assertThat(source.version()).as("the same keys").isSameAs(version);
    body = set("second", Tokens.OTHER_RSA);
    pass(JwksSource.MAX_PAUSE);
    assertThat(source.lookAgain().join()).isTrue();
    assertThat(source.version()).as("other keys").isNotSameAs(version);
    pass(JwksSource.FIRST_PAUSE);
    CompletableFuture<Boolean> first = source.lookAgain();
    // A fetch that has ended already was before this one, too.
    assertThat(source.lookAgain().join()).as("sent before").isFalse();
    assertThat(first.join()).isTrue();
    assertThat(kids()).containsExactly("second");
  }

  @Test
  void aKeyThatCannotBeUsedCostsNoOther() throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(1024);
    Map<String, KeyPair> keys = new LinkedHashMap<>();
    keys.put("weak", generator.generateKeyPair());
    keys.put("second", Tokens.OTHER_RSA);
    body = Tokens.set(keys);
    pass(Duration.ofMinutes(10));
    refresh();
    assertThat(kids()).containsExactly("second");
  }

  @Test
  void keysStayForADayOfOutage() {
    server.stop(0);
    pass(Duration.ofHours(23));
    refresh();
    assertThat(kids()).containsExactly("first");
    pass(JwksSource.MAX_PAUSE);
    assertThat(source.lookAgain().join()).isFalse();
    pass(Duration.ofHours(1).plusNanos(1));
    assertThat(kids()).isEmpty();
  }

  @Test
  void afterAFailureItIsTriedAgainSoon() {
    status = 500;
    pass(Duration.ofMinutes(10));
    refresh();
    assertThat(requests).hasValue(2);
    assertThat(kids()).containsExactly("first");
    status = 200;
    body = set("second", Tokens.OTHER_RSA);
    pass(JwksSource.FIRST_PAUSE.minusNanos(1));
    source.refresh();
    assertThat(requests).hasValue(2);
    pass(Duration.ofNanos(1));
    refresh();
    assertThat(kids()).containsExactly("second");
  }

  private void staysAfter() {
    pass(Duration.ofHours(1));
    refresh();
    assertThat(requests).hasValue(2);
    assertThat(kids()).containsExactly("first");
  }

  @Test
  void redirectsAreNotFollowed() {
    status = 302;
    staysAfter();
  }

  @Test
  void aLongAnswerIsNoSetOfKeys() {
    body = set("second", Tokens.RSA) + " ".repeat(KeyFiles.MAX_BYTES);
    staysAfter();
  }

  @Test
  void documentsWithoutKeysAreNoKeySet() {
    body = "{\"keys\":[]}";
    staysAfter();
  }

  @Test
  void aPageIsNoSetOfKeys() {
    body = "<html>";
    staysAfter();
  }

  @Test
  void fetchesNothingAfterTheEnd() {
    source.close();
    pass(Duration.ofHours(2));
    refresh();
    assertThat(requests).hasValue(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "''; 300",
        "no-store; 300",
        "max-age=0; 300",
        "public, max-age=86400, must-revalidate; 3600",
        "Max-Age=1200; 600",
        "s-max-age=7200; 300",
        "max-age=99999999999; 3600"
      })
  void returnsTheTimeToWait(String header, long seconds) {
    assertThat(JwksSource.pause(header)).isEqualTo(Duration.ofSeconds(seconds));
  }
}
