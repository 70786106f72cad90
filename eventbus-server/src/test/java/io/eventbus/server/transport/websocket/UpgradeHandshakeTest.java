package io.eventbus.server.transport.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.base.RateLimitedLog;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.helpers.NOPLogger;

class UpgradeHandshakeTest {
  private static final int ADMIN = 8081;

  private final UpgradeHandshake plain =
      new UpgradeHandshake(
          "/bus", null, false, origins(List.of("https://app.example.com"), "bus.example.com"));
  private final UpgradeHandshake full =
      new UpgradeHandshake("/bus", "/echo", true, origins(List.of("*"), "0.0.0.0"));

  private static OriginCheck origins(List<String> allowed, String listenHost) {
    return new OriginCheck(allowed, listenHost, new RateLimitedLog(NOPLogger.NOP_LOGGER, () -> 0));
  }

  /** Returns the request of RFC 6455, section 1.3, for the bus. */
  private static DefaultHttpRequest request(String uri) {
    DefaultHttpRequest r = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, uri);
    r.headers()
        .set("Host", "localhost")
        .set("Upgrade", "websocket")
        .set("Connection", "Upgrade")
        .set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
        .set("Sec-WebSocket-Version", "13")
        .set("Sec-WebSocket-Protocol", UpgradeHandshake.AVRO);
    return r;
  }

  private static UpgradeHandshake.Upgrade upgrade(UpgradeHandshake.Answer answer) {
    assertThat(answer).isInstanceOf(UpgradeHandshake.Upgrade.class);
    return (UpgradeHandshake.Upgrade) answer;
  }

  private static UpgradeHandshake.Page page(UpgradeHandshake.Answer answer) {
    assertThat(answer).isInstanceOf(UpgradeHandshake.Page.class);
    return (UpgradeHandshake.Page) answer;
  }

  @Test
  void upgradesAsInTheRfc() {
    UpgradeHandshake.Upgrade up = upgrade(plain.answer(request("/bus"), ADMIN));
    assertThat(up.accept()).isEqualTo("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assertThat(up.endpoint()).isEqualTo(UpgradeHandshake.Endpoint.BUS);
    assertThat(up.subprotocol()).isEqualTo(UpgradeHandshake.AVRO);
    assertThat(up.extensions()).isNull();
  }

  @Test
  void toleratesWhatBrowsersAndProxiesSend() {
    DefaultHttpRequest r = request("/bus?token=1");
    r.headers().set("Connection", "keep-alive, Upgrade").set("Upgrade", "WebSocket");
    r.headers().set("Sec-WebSocket-Protocol", "eventbus.v9.avro , " + UpgradeHandshake.AVRO);
    assertThat(upgrade(plain.answer(r, ADMIN)).subprotocol()).isEqualTo(UpgradeHandshake.AVRO);
    r.headers().set("Sec-WebSocket-Protocol", "other");
    r.headers().add("Sec-WebSocket-Protocol", UpgradeHandshake.AVRO);
    assertThat(upgrade(plain.answer(r, ADMIN)).subprotocol()).as("several lines").isNotNull();
  }

  @Test
  void aPageOfAnotherSiteIsRefused() {
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Host", "localhost:8080").set("Origin", "http://evil.example");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(403);
    r.headers().set("Origin", "null");
    assertThat(page(plain.answer(r, ADMIN)).status()).as("a file, or a sandbox").isEqualTo(403);
    r.headers().set("Origin", "http://localhost:8080");
    assertThat(upgrade(plain.answer(r, ADMIN)).endpoint()).isEqualTo(UpgradeHandshake.Endpoint.BUS);
    r.headers().set("Origin", "localhost:8080");
    assertThat(upgrade(plain.answer(r, ADMIN)).endpoint()).as("without a scheme").isNotNull();
    r.headers().set("Origin", "https://app.example.com");
    assertThat(upgrade(plain.answer(r, ADMIN)).endpoint()).as("one that is allowed").isNotNull();
    r.headers().set("Origin", "http://app.example.com");
    assertThat(page(plain.answer(r, ADMIN)).status()).as("another scheme").isEqualTo(403);
    r.headers().set("Origin", "null");
    assertThat(upgrade(full.answer(r, ADMIN)).endpoint()).as("all are allowed").isNotNull();
  }

  @ParameterizedTest
  @CsvSource({
    "evil.example:8080, 403",
    "127.0.0.1.evil.example, 403",
    "localhost.evil.example, 403",
    "localhost:8080, 0",
    "192.168.1.7:8080, 0",
    "[fe80::1]:8080, 0",
    "BUS.example.com, 0"
  })
  void aNameThatWasMadeToLeadHereIsNotTheBussOwnSite(String host, int refused) {
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Host", host).set("Origin", "http://" + host);
    UpgradeHandshake.Answer answer = plain.answer(r, ADMIN);
    assertThat(answer instanceof UpgradeHandshake.Page page ? page.status() : 0).isEqualTo(refused);
  }

  @ParameterizedTest
  @CsvSource({
    "localhost:8080, http://localhost:8081, 0",
    "192.168.1.7:8080, http://192.168.1.7:8081, 0",
    "[fe80::1]:8080, http://[fe80::1]:8081, 0",
    "bus.example.com, http://bus.example.com:8081, 0",
    "localhost:8080, http://localhost:8082, 403",
    "localhost:8080, http://localhost, 403",
    "localhost:8080, https://localhost:8081, 0",
    "localhost:8080, https://localhost:8082, 403",
    "localhost:8080, http://127.0.0.1:8081, 403",
    "evil.example:8080, http://evil.example:8081, 403"
  })
  void aPageOfTheAdministrationPortIsTheBussOwn(String host, String origin, int refused) {
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Host", host).set("Origin", origin);
    UpgradeHandshake.Answer answer = plain.answer(r, ADMIN);
    assertThat(answer instanceof UpgradeHandshake.Page page ? page.status() : 0).isEqualTo(refused);
  }

  @Test
  void withoutAdministrationItsPortIsForeign() {
    OriginCheck check = origins(List.of(), "0.0.0.0");
    assertThat(check.isForeign("http://localhost:8081", "localhost:8080", -1)).isTrue();
    assertThat(check.isForeign("http://localhost:-1", "localhost:8080", -1)).isTrue();
    assertThat(check.isForeign("http://localhost", "localhost:8080", 80)).isFalse();
    assertThat(check.isForeign("https://localhost", "localhost:8080", 443)).isFalse();
    assertThat(check.isForeign("https://localhost", "localhost:8080", 80)).isTrue();
    assertThat(check.isForeign("http://localhost", "localhost:8080", 443)).isTrue();
  }

  @Test
  void aRequestThatCouldNotBeReadIsNotUpgraded() {
    DefaultHttpRequest r = request("/bus");
    r.setDecoderResult(DecoderResult.failure(new IllegalArgumentException("line too long")));
    UpgradeHandshake.Page page = page(plain.answer(r, ADMIN));
    assertThat(page.status()).isEqualTo(400);
    assertThat(page.body()).contains("line too long");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/", "/bus/", "/bus2", "/BUS", "bus", "", "/echo", "http://localhost/bus"})
  void anUnknownPathIsNotFound(String uri) {
    UpgradeHandshake.Page page = page(plain.answer(request(uri), ADMIN));
    assertThat(page.status()).isEqualTo(404);
    assertThat(page.body()).contains("/bus");
  }

  @Test
  void otherMethodsAndVersionsAreRefused() {
    DefaultHttpRequest post = request("/bus");
    post.setMethod(HttpMethod.POST);
    assertThat(page(plain.answer(post, ADMIN)).status()).isEqualTo(405);
    assertThat(page(plain.answer(post, ADMIN)).headers()).containsEntry("Allow", "GET");
    DefaultHttpRequest old = request("/bus");
    old.setProtocolVersion(HttpVersion.HTTP_1_0);
    assertThat(page(plain.answer(old, ADMIN)).status()).isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Upgrade", "Connection"})
  void aPlainGetShowsWhatThisIs(String header) {
    DefaultHttpRequest r = request("/bus");
    r.headers().remove(header);
    UpgradeHandshake.Page page = page(plain.answer(r, ADMIN));
    assertThat(page.status()).isEqualTo(200);
    assertThat(page.body()).contains(UpgradeHandshake.AVRO);
    r.headers().set(header, "h2c");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(200);
  }

  private static DefaultHttpRequest plainGet(String uri) {
    DefaultHttpRequest r = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, uri);
    r.headers().set("Host", "bus.example.org");
    return r;
  }

  @Test
  void aPlainGetTellsAPageWhetherItMayConnect() {
    DefaultHttpRequest r = plainGet("/bus");
    r.headers().set("Origin", "http://evil.example");
    UpgradeHandshake.Page refused = page(plain.answer(r, ADMIN));
    assertThat(refused.status()).isEqualTo(403);
    assertThat(refused.body()).contains("listen.allowed-origins").doesNotContain("app.example");
    r.headers().set("Origin", "https://app.example.com");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(200);
    r.headers().add("Origin", "https://app.example.com");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(400);
    assertThat(page(plain.answer(plainGet("/nothing"), ADMIN)).status()).isEqualTo(404);
  }

  @Test
  void aPageOfTheSameSiteSendsNoOriginAndIsToldAllTheSame() {
    DefaultHttpRequest r = plainGet("/bus");
    r.headers().set("Sec-Fetch-Site", "none");
    assertThat(page(plain.answer(r, ADMIN)).status())
        .as("an address that was typed")
        .isEqualTo(200);
    r.headers().set("Sec-Fetch-Site", "same-origin");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(403);
    assertThat(UpgradeHandshake.origin(r)).isEqualTo("http://bus.example.org");
    r.headers().set("Host", "localhost:8080");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/bus", "/nothing"})
  void everyAnswerIsForPagesToRead(String uri) {
    assertThat(page(plain.answer(plainGet(uri), ADMIN)).headers())
        .containsEntry("Access-Control-Allow-Origin", "*")
        .containsEntry("Cache-Control", "no-store");
    DefaultHttpRequest post = plainGet(uri);
    post.setMethod(HttpMethod.POST);
    assertThat(page(plain.answer(post, ADMIN)).headers())
        .containsEntry("Access-Control-Allow-Origin", "*");
  }

  @Test
  void anotherVersionOfWebSocketIsToldTheRightOne() {
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Sec-WebSocket-Version", "8");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(426);
    assertThat(page(plain.answer(r, ADMIN)).headers()).containsEntry("Sec-WebSocket-Version", "13");
    r.headers().remove("Sec-WebSocket-Version");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(426);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "short", "dGhlIHNhbXBsZSBub25jZQ", "!!!!", "dGhlIHNhbXBsZSBub25jZQ==x"})
  void aKeyThatIsNoneIsRefused(String key) {
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Sec-WebSocket-Key", key);
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(400);
    r.headers().remove("Sec-WebSocket-Key");
    assertThat(page(plain.answer(r, ADMIN)).body()).contains("none");
  }

  @Test
  void theBusNeedsItsSubprotocolAndSaysWhich() {
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Sec-WebSocket-Protocol", "mqtt");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(400);
    assertThat(page(plain.answer(r, ADMIN)).body()).contains(UpgradeHandshake.AVRO);
    r.headers().remove("Sec-WebSocket-Protocol");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(400);
  }

  @Test
  void theSubprotocolIsComparedWithItsCase() {
    // A client must refuse an answer that names another protocol than it has sent.
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Sec-WebSocket-Protocol", "EVENTBUS.V1.AVRO");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(400);
    assertThat(page(plain.answer(r, ADMIN)).body()).contains(UpgradeHandshake.AVRO);
  }

  @Test
  void aRequestHasOneHost() {
    DefaultHttpRequest r = request("/bus");
    r.headers().remove("Host");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(400);
    assertThat(page(plain.answer(r, ADMIN)).body()).contains("Host", "expected: one");
    r.headers().add("Host", "localhost").add("Host", "localhost");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(400);
  }

  @Test
  void aRequestHasOneKeyAndComesFromOnePage() {
    DefaultHttpRequest r = request("/bus");
    r.headers().add("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    assertThat(page(plain.answer(r, ADMIN)).status()).isEqualTo(400);
    assertThat(page(plain.answer(r, ADMIN)).body()).contains("Sec-WebSocket-Key: 2");
    DefaultHttpRequest two = request("/bus");
    two.headers().add("Origin", "https://app.example.com").add("Origin", "http://evil.example");
    assertThat(page(plain.answer(two, ADMIN)).status()).isEqualTo(400);
    assertThat(page(plain.answer(two, ADMIN)).body()).contains("Origin: 2");
  }

  @Test
  void theEchoIsNotForPagesOfOtherSites() {
    UpgradeHandshake echo =
        new UpgradeHandshake("/bus", "/echo", false, origins(List.of(), "bus.example.com"));
    DefaultHttpRequest r = request("/echo");
    r.headers().set("Origin", "http://evil.example");
    assertThat(page(echo.answer(r, ADMIN)).status()).isEqualTo(403);
    r.headers().remove("Origin");
    assertThat(upgrade(echo.answer(r, ADMIN)).endpoint()).isEqualTo(UpgradeHandshake.Endpoint.ECHO);
  }

  @Test
  void theEchoNeedsNoSubprotocol() {
    DefaultHttpRequest r = request("/echo");
    assertThat(upgrade(full.answer(r, ADMIN)).endpoint()).isEqualTo(UpgradeHandshake.Endpoint.ECHO);
    r.headers().remove("Sec-WebSocket-Protocol");
    assertThat(upgrade(full.answer(r, ADMIN)).subprotocol()).isNull();
  }

  @Test
  void compressionIsAgreedOnOnlyWhereItIsOn() {
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits");
    assertThat(upgrade(plain.answer(r, ADMIN)).extensions()).isNull();
    assertThat(upgrade(full.answer(r, ADMIN)).extensions()).startsWith("permessage-deflate");
    r.headers().set("Sec-WebSocket-Extensions", "unknown");
    assertThat(upgrade(full.answer(r, ADMIN)).extensions()).isNull();
  }
}
