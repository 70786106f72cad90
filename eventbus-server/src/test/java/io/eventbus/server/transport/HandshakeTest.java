package io.eventbus.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HandshakeTest {
  private final Handshake plain =
      new Handshake(
          "/bus",
          null,
          false,
          new OriginCheck(List.of("https://app.example.com"), "bus.example.com"));
  private final Handshake full =
      new Handshake("/bus", "/echo", true, new OriginCheck(List.of("*"), "0.0.0.0"));

  /** The request of RFC 6455, section 1.3, for the bus. */
  private static DefaultHttpRequest request(String uri) {
    DefaultHttpRequest r = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, uri);
    r.headers()
        .set("Host", "localhost")
        .set("Upgrade", "websocket")
        .set("Connection", "Upgrade")
        .set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
        .set("Sec-WebSocket-Version", "13")
        .set("Sec-WebSocket-Protocol", Handshake.AVRO);
    return r;
  }

  private static Handshake.Upgrade upgrade(Handshake.Answer answer) {
    assertThat(answer).isInstanceOf(Handshake.Upgrade.class);
    return (Handshake.Upgrade) answer;
  }

  private static Handshake.Page page(Handshake.Answer answer) {
    assertThat(answer).isInstanceOf(Handshake.Page.class);
    return (Handshake.Page) answer;
  }

  @Test
  void upgradesAsInTheRfc() {
    Handshake.Upgrade up = upgrade(plain.answer(request("/bus")));
    assertThat(up.accept()).isEqualTo("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assertThat(up.endpoint()).isEqualTo(Handshake.Endpoint.BUS);
    assertThat(up.subprotocol()).isEqualTo(Handshake.AVRO);
    assertThat(up.extensions()).isNull();
  }

  @Test
  void toleratesWhatBrowsersAndProxiesSend() {
    DefaultHttpRequest r = request("/bus?token=1");
    r.headers().set("Connection", "keep-alive, Upgrade").set("Upgrade", "WebSocket");
    r.headers().set("Sec-WebSocket-Protocol", "eventbus.v9.avro , " + Handshake.AVRO);
    assertThat(upgrade(plain.answer(r)).subprotocol()).isEqualTo(Handshake.AVRO);
    r.headers().set("Sec-WebSocket-Protocol", "other");
    r.headers().add("Sec-WebSocket-Protocol", Handshake.AVRO);
    assertThat(upgrade(plain.answer(r)).subprotocol()).as("several lines").isNotNull();
  }

  @Test
  void aPageOfAnotherSiteIsRefused() {
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Host", "localhost:8080").set("Origin", "http://evil.example");
    assertThat(page(plain.answer(r)).status()).isEqualTo(403);
    r.headers().set("Origin", "null");
    assertThat(page(plain.answer(r)).status()).as("a file, or a sandbox").isEqualTo(403);
    r.headers().set("Origin", "http://localhost:8080");
    assertThat(upgrade(plain.answer(r)).endpoint()).isEqualTo(Handshake.Endpoint.BUS);
    r.headers().set("Origin", "localhost:8080");
    assertThat(upgrade(plain.answer(r)).endpoint()).as("without a scheme").isNotNull();
    r.headers().set("Origin", "https://app.example.com");
    assertThat(upgrade(plain.answer(r)).endpoint()).as("one that is allowed").isNotNull();
    r.headers().set("Origin", "http://app.example.com");
    assertThat(page(plain.answer(r)).status()).as("another scheme").isEqualTo(403);
    r.headers().set("Origin", "null");
    assertThat(upgrade(full.answer(r)).endpoint()).as("all are allowed").isNotNull();
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
    Handshake.Answer answer = plain.answer(r);
    assertThat(answer instanceof Handshake.Page page ? page.status() : 0).isEqualTo(refused);
  }

  @Test
  void aRequestThatCouldNotBeReadIsNotUpgraded() {
    DefaultHttpRequest r = request("/bus");
    r.setDecoderResult(DecoderResult.failure(new IllegalArgumentException("line too long")));
    Handshake.Page page = page(plain.answer(r));
    assertThat(page.status()).isEqualTo(400);
    assertThat(page.body()).contains("line too long");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/", "/bus/", "/bus2", "/BUS", "bus", "", "/echo", "http://localhost/bus"})
  void anUnknownPathIsNotFound(String uri) {
    Handshake.Page page = page(plain.answer(request(uri)));
    assertThat(page.status()).isEqualTo(404);
    assertThat(page.body()).contains("/bus");
  }

  @Test
  void otherMethodsAndVersionsAreRefused() {
    DefaultHttpRequest post = request("/bus");
    post.setMethod(HttpMethod.POST);
    assertThat(page(plain.answer(post)).status()).isEqualTo(405);
    assertThat(page(plain.answer(post)).headers()).containsEntry("Allow", "GET");
    DefaultHttpRequest old = request("/bus");
    old.setProtocolVersion(HttpVersion.HTTP_1_0);
    assertThat(page(plain.answer(old)).status()).isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Upgrade", "Connection"})
  void aPlainGetShowsWhatThisIs(String header) {
    DefaultHttpRequest r = request("/bus");
    r.headers().remove(header);
    Handshake.Page page = page(plain.answer(r));
    assertThat(page.status()).isEqualTo(200);
    assertThat(page.body()).contains(Handshake.AVRO);
    r.headers().set(header, "h2c");
    assertThat(page(plain.answer(r)).status()).isEqualTo(200);
  }

  @Test
  void anotherVersionOfWebSocketIsToldTheRightOne() {
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Sec-WebSocket-Version", "8");
    assertThat(page(plain.answer(r)).status()).isEqualTo(426);
    assertThat(page(plain.answer(r)).headers()).containsEntry("Sec-WebSocket-Version", "13");
    r.headers().remove("Sec-WebSocket-Version");
    assertThat(page(plain.answer(r)).status()).isEqualTo(426);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "short", "dGhlIHNhbXBsZSBub25jZQ", "!!!!", "dGhlIHNhbXBsZSBub25jZQ==x"})
  void aKeyThatIsNoneIsRefused(String key) {
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Sec-WebSocket-Key", key);
    assertThat(page(plain.answer(r)).status()).isEqualTo(400);
    r.headers().remove("Sec-WebSocket-Key");
    assertThat(page(plain.answer(r)).body()).contains("none");
  }

  @Test
  void theBusNeedsItsSubprotocolAndSaysWhich() {
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Sec-WebSocket-Protocol", "mqtt");
    assertThat(page(plain.answer(r)).status()).isEqualTo(400);
    assertThat(page(plain.answer(r)).body()).contains(Handshake.AVRO);
    r.headers().remove("Sec-WebSocket-Protocol");
    assertThat(page(plain.answer(r)).status()).isEqualTo(400);
  }

  @Test
  void theSubprotocolIsComparedWithItsCase() {
    // A client must refuse an answer that names another one than it has sent.
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Sec-WebSocket-Protocol", "EVENTBUS.V1.AVRO");
    assertThat(page(plain.answer(r)).status()).isEqualTo(400);
    assertThat(page(plain.answer(r)).body()).contains(Handshake.AVRO);
  }

  @Test
  void aRequestHasOneHost() {
    DefaultHttpRequest r = request("/bus");
    r.headers().remove("Host");
    assertThat(page(plain.answer(r)).status()).isEqualTo(400);
    assertThat(page(plain.answer(r)).body()).contains("Host", "expected: one");
    r.headers().add("Host", "localhost").add("Host", "localhost");
    assertThat(page(plain.answer(r)).status()).isEqualTo(400);
  }

  @Test
  void aRequestHasOneKeyAndComesFromOnePage() {
    DefaultHttpRequest r = request("/bus");
    r.headers().add("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    assertThat(page(plain.answer(r)).status()).isEqualTo(400);
    assertThat(page(plain.answer(r)).body()).contains("Sec-WebSocket-Key: 2");
    DefaultHttpRequest two = request("/bus");
    two.headers().add("Origin", "https://app.example.com").add("Origin", "http://evil.example");
    assertThat(page(plain.answer(two)).status()).isEqualTo(400);
    assertThat(page(plain.answer(two)).body()).contains("Origin: 2");
  }

  @Test
  void theEchoIsNotForPagesOfOtherSites() {
    Handshake echo =
        new Handshake("/bus", "/echo", false, new OriginCheck(List.of(), "bus.example.com"));
    DefaultHttpRequest r = request("/echo");
    r.headers().set("Origin", "http://evil.example");
    assertThat(page(echo.answer(r)).status()).isEqualTo(403);
    r.headers().remove("Origin");
    assertThat(upgrade(echo.answer(r)).endpoint()).isEqualTo(Handshake.Endpoint.ECHO);
  }

  @Test
  void theEchoNeedsNoSubprotocol() {
    DefaultHttpRequest r = request("/echo");
    assertThat(upgrade(full.answer(r)).endpoint()).isEqualTo(Handshake.Endpoint.ECHO);
    r.headers().remove("Sec-WebSocket-Protocol");
    assertThat(upgrade(full.answer(r)).subprotocol()).isNull();
  }

  @Test
  void compressionIsAgreedOnOnlyWhereItIsOn() {
    DefaultHttpRequest r = request("/bus");
    r.headers().set("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits");
    assertThat(upgrade(plain.answer(r)).extensions()).isNull();
    assertThat(upgrade(full.answer(r)).extensions()).startsWith("permessage-deflate");
    r.headers().set("Sec-WebSocket-Extensions", "unknown");
    assertThat(upgrade(full.answer(r)).extensions()).isNull();
  }
}
