package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Hello;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that are no proper upgrade: each is answered in HTTP and ends; none hangs. */
class HostileHandshakeIT extends HostileTests {
  private static final String KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  private static final String AVRO = "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n";
  private static final String UPGRADE = "Upgrade: websocket\r\nConnection: Upgrade\r\n";
  private static final String VERSION = "Sec-WebSocket-Version: 13\r\n";
  private static final String GOOD =
      "GET /bus HTTP/1.1\r\nHost: x\r\n" + UPGRADE + KEY + VERSION + AVRO;

  /** Sends a request and reads the answer until the end of the stream. */
  /** Returns long deadlines: most of these clients never say Hello, and are read to their end. */
  @Override
  String[] settings() {
    return new String[] {"timeouts.upgrade", "1s", "timeouts.hello", "1s", "timeouts.close", "1s"};
  }

  private String exchange(byte[] request) throws IOException {
    try (RawClient client = RawClient.tcp(bus.uri())) {
      try {
        client.raw(request);
      } catch (SocketException e) {
        // The bus has seen enough; its answer is still there to be read.
        assertThat(e).hasMessageContaining("");
      }
      ByteArrayOutputStream answer = new ByteArrayOutputStream();
      client.input().transferTo(answer);
      return answer.toString(StandardCharsets.UTF_8);
    }
  }

  private String exchange(String request) throws IOException {
    return exchange(request.getBytes(StandardCharsets.ISO_8859_1));
  }

  @Test
  void aPlainGetShowsAPage() throws Exception {
    assertThat(exchange("GET /bus HTTP/1.1\r\nHost: x\r\n\r\n"))
        .startsWith("HTTP/1.1 200 ")
        .contains("eventbus.v1.avro");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/nothing", "/busy", "/bus/", "*", "//bus", "/BUS"})
  void anUnknownPathIsNotFound(String path) throws Exception {
    String request = GOOD.replace("/bus", path) + "\r\n";
    assertThat(exchange(request))
        .startsWith("HTTP/1.1 404 ")
        .contains("\r\nEventBus-Refused: yes\r\n")
        .contains("/bus");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Sec-WebSocket-Protocol: eventbus.v1.json\r\n",
        "Sec-WebSocket-Protocol: mqtt, eventbus.v2.avro\r\n"
      })
  void noCommonSubProtocolIsRefusedWithItsName(String header) throws Exception {
    assertThat(exchange(GOOD.replace(AVRO, header) + "\r\n"))
        .startsWith("HTTP/1.1 400 ")
        .contains("expected: eventbus.v1.avro");
  }

  @ParameterizedTest
  @CsvSource({
    "HTTP/1.1, HTTP/1.0, 400",
    "HTTP/1.1, HTTP/0.9, 400",
    "HTTP/1.1, HTTP/9.9, 400",
    "HTTP/1.1, nonsense, 400",
    "GET, POST, 405",
    "GET, DELETE, 405",
    "Version: 13, Version: 8, 426",
    "Version: 13, Version: none, 426",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==, X-Key: none, 400",
    "dGhlIHNhbXBsZSBub25jZQ==, c2hvcnQ=, 400",
    "dGhlIHNhbXBsZSBub25jZQ==, not a key, 400",
    "Upgrade: websocket, Upgrade: h2c, 200",
    "Host: x, Host x, 400",
    "Host: x, : x, 400",
    "Host: x, A\tB: x, 400",
  })
  void aBrokenRequestIsRefused(String good, String bad, int status) throws Exception {
    String request = GOOD.replace(good, bad) + "\r\n";
    assertThat(request).isNotEqualTo(GOOD + "\r\n");
    assertThat(exchange(request)).startsWith("HTTP/1.1 " + status + " ");
  }

  @Test
  void headersThatAreTooLargeAreRefusedAndTheAnswerArrives() throws Exception {
    String large = GOOD + "X-Large: " + "x".repeat(400_000) + "\r\n\r\n";
    assertThat(exchange(large)).startsWith("HTTP/1.1 400 ");
    String many = GOOD + "X-Header: some value or other\r\n".repeat(10_000) + "\r\n";
    assertThat(exchange(many)).startsWith("HTTP/1.1 400 ");
  }

  @Test
  void aRequestLineThatIsTooLongIsRefused() throws Exception {
    assertThat(exchange(GOOD.replace("/bus", "/" + "x".repeat(100_000)) + "\r\n"))
        .startsWith("HTTP/1.1 400 ");
  }

  @Test
  void bytesThatAreNoHttpAreRefused() throws Exception {
    assertThat(exchange("\u0016\u0003\u0001\u0002\u0000\u0001\u0000\r\n\r\n"))
        .startsWith("HTTP/1.1 400 ");
    assertThat(exchange("SSH-2.0-x\r\n\r\n")).startsWith("HTTP/1.1 400 ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Transfer-Encoding: chunked\r\n\r\nnot a size\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
        "Content-Length: x\r\n\r\n",
        "Content-Length: -5\r\n\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "Bad\u0000Name: x\r\n\r\n"
      })
  void aRequestThatFailedToDecodeIsNeverUpgraded(String rest) throws Exception {
    assertThat(exchange(GOOD + rest)).startsWith("HTTP/1.1 400 ");
  }

  @Test
  void aBodyWithoutEndEndsAtTheDeadline() throws Exception {
    double before = bus.closed("not_upgraded");
    assertThat(exchange(GOOD + "Content-Length: 4294967296\r\n\r\nx")).isEmpty();
    assertThat(bus.closed("not_upgraded")).isEqualTo(before + 1);
  }

  @Test
  void aClientThatSaysNothingEndsAtTheDeadline() throws Exception {
    double before = bus.closed("not_upgraded");
    assertThat(exchange("")).isEmpty();
    assertThat(bus.closed("not_upgraded")).isEqualTo(before + 1);
  }

  @Test
  void aRequestThatTricklesInEndsAtTheDeadlineFromAccept() throws Exception {
    try (RawClient client = RawClient.tcp(bus.uri())) {
      int sent = 0;
      try {
        for (byte b :
            (GOOD + "X-Slow: " + "x".repeat(20_000)).getBytes(StandardCharsets.US_ASCII)) {
          client.raw(new byte[] {b});
          sent++;
          LockSupport.parkNanos(5_000_000);
        }
      } catch (SocketException e) {
        assertThat(sent).isPositive();
      }
      assertThat(sent).isLessThan(1_000);
    }
  }

  @Test
  void aRequestInPiecesWithHelloBehindItIsWelcomed() throws Exception {
    byte[] hello =
        RawClient.frame(
            0x82,
            ControlFrames.encode(
                TypeCode.HELLO, new Hello("x", "x", null, null, Map.of(), null, null, null)));
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes((GOOD + "\r\n").getBytes(StandardCharsets.US_ASCII));
    all.writeBytes(hello);
    for (int piece : new int[] {100_000, 1, 7}) {
      try (RawClient client = RawClient.tcp(bus.uri())) {
        byte[] bytes = all.toByteArray();
        for (int i = 0; i < bytes.length; i += piece) {
          client.raw(Arrays.copyOfRange(bytes, i, Math.min(bytes.length, i + piece)));
        }
        client.http("");
        assertThat(client.httpResponse).startsWith("HTTP/1.1 101 ");
        client.expect(TypeCode.WELCOME);
      }
    }
  }

  @Test
  void listsOfTokensInAnyCaseAreUnderstood() throws Exception {
    try (RawClient client = RawClient.tcp(bus.uri())) {
      client.http(
          "GET /bus?x=y HTTP/1.1\r\nHost: x\r\nupgrade: WebSocket\r\nCONNECTION: keep-alive, upgrade\r\n"
              + KEY
              + VERSION
              + "sec-websocket-protocol: mqtt\r\nSec-WebSocket-Protocol: x, eventbus.v1.avro\r\n\r\n");
      assertThat(client.httpResponse)
          .startsWith("HTTP/1.1 101 ")
          .contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
          .contains("Sec-WebSocket-Protocol: eventbus.v1.avro\r\n")
          .doesNotContain("Extensions");
      client.hello(null);
    }
  }

  @Test
  void connectionsTooManyDoNotStay() throws Exception {
    try (WatchedBus small =
            WatchedBus.start("listen.max-connections", "3", "timeouts.upgrade", "1h");
        RawClient third = RawClient.connected(small.uri())) {
      List<RawClient> crowd = new ArrayList<>();
      try {
        for (int i = 0; i < 300; i++) {
          crowd.add(RawClient.tcp(small.uri()));
        }
        WatchedBus.await(
            () -> small.closed("too_many_connections") == 300,
            () -> "refused: " + small.closed("too_many_connections"));
        assertThat(small.metric("eventbus_connections")).isEqualTo(3);
        // None of them says a word or ends by itself.
        for (RawClient client : crowd) {
          awaitEnd(client);
        }
        third.subscribe(1, "still.here");
      } finally {
        for (RawClient client : crowd) {
          client.close();
        }
      }
    }
  }

  /** Waits for the end; a time-out fails the test. */
  private static void awaitEnd(RawClient client) throws IOException {
    try {
      client.input().transferTo(OutputStream.nullOutputStream());
    } catch (SocketException e) {
      assertThat(e).hasMessageContaining("reset");
    }
  }

  @Test
  void anExcessConnectionIsTold() throws Exception {
    try (WatchedBus small = WatchedBus.start("listen.max-connections", "3");
        RawClient third = RawClient.connected(small.uri())) {
      for (int i = 0; i < 20; i++) {
        try (RawClient fourth = RawClient.tcp(small.uri())) {
          fourth.http(GOOD + "\r\n");
          assertThat(fourth.httpResponse).startsWith("HTTP/1.1 503 ").contains("Retry-After");
        }
      }
      third.subscribe(1, "still.here");
      third.socket().close();
    }
  }
}
