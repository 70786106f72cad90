package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Subscribe;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Admission: limits for an address, proxies, and clients that show a wrong token. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class AdmissionIT {
  private static final String AVRO = "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n";

  private static WatchedBus behindAProxy(String... settings) throws IOException {
    List<String> all =
        new ArrayList<>(List.of("listen.proxies", "127.0.0.0/8", "auth.anonymous", "everyone"));
    all.addAll(List.of(settings));
    return WatchedBus.start(all.toArray(new String[0]));
  }

  private static double refused(WatchedBus bus, String reason) {
    return bus.metric("eventbus_refused_connections_total{reason=\"" + reason + "\"}");
  }

  /** Returns a client as a proxy shows it in a header. */
  private static RawClient forwarded(WatchedBus bus, String header) throws IOException {
    return RawClient.tcp(bus.uri()).upgrade("/bus", AVRO + header + "\r\n");
  }

  /** Returns a client as a proxy shows it in front of everything. */
  private static RawClient prefaced(WatchedBus bus, byte[] preface) throws IOException {
    RawClient client = RawClient.tcp(bus.uri());
    client.raw(preface);
    return client.upgrade("/bus", AVRO);
  }

  private static byte[] v1(String client) {
    return ("PROXY TCP4 " + client + " 192.0.2.1 4711 443\r\n").getBytes(StandardCharsets.US_ASCII);
  }

  private static String connections(WatchedBus bus) throws IOException {
    URI uri = URI.create("http://127.0.0.1:" + bus.server().adminPort() + "/api/v1/connections");
    try (var in = uri.toURL().openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void anAddressHasSoManyConnections() throws Exception {
    try (WatchedBus bus = behindAProxy("limits.address-connections", "2");
        RawClient first = forwarded(bus, "X-Forwarded-For: 203.0.113.7");
        RawClient second = forwarded(bus, "Forwarded: for=203.0.113.7;proto=http");
        RawClient other = forwarded(bus, "X-Forwarded-For: 203.0.113.8")) {
      assertThat(first.httpResponse).startsWith("HTTP/1.1 101 ");
      assertThat(second.httpResponse).startsWith("HTTP/1.1 101 ");
      assertThat(other.httpResponse).startsWith("HTTP/1.1 101 ");
      try (RawClient third = forwarded(bus, "X-Forwarded-For: 203.0.113.7")) {
        assertThat(third.httpResponse).startsWith("HTTP/1.1 503 ").contains("Retry-After");
        assertThat(new String(third.input().readAllBytes(), StandardCharsets.UTF_8))
            .contains("limits.address-connections", "203.0.113.7", "at most 2");
      }
      assertThat(refused(bus, "address_connections")).isEqualTo(1);
      first.hello(null);
      assertThat(connections(bus)).contains("203.0.113.7");
      first.socket().close();
      WatchedBus.await(
          () -> {
            try (RawClient again = forwarded(bus, "X-Forwarded-For: 203.0.113.7")) {
              return again.httpResponse.startsWith("HTTP/1.1 101 ");
            } catch (IOException e) {
              throw new AssertionError(e);
            }
          },
          () -> "there is no room again");
    }
  }

  @Test
  void anUnwelcomedConnectionCountsAsAHandshake() throws Exception {
    try (WatchedBus bus = behindAProxy("limits.address-handshakes", "1");
        RawClient first = forwarded(bus, "X-Forwarded-For: 2001:db8::1")) {
      try (RawClient second = forwarded(bus, "X-Forwarded-For: 2001:db8::2")) {
        assertThat(second.httpResponse).startsWith("HTTP/1.1 503 ");
      }
      first.hello(null);
      try (RawClient second = forwarded(bus, "X-Forwarded-For: 2001:db8::2")) {
        assertThat(second.httpResponse).startsWith("HTTP/1.1 101 ");
      }
      assertThat(refused(bus, "address_handshakes")).isEqualTo(1);
    }
  }

  @Test
  void newConnectionsHaveARate() throws Exception {
    try (WatchedBus bus = behindAProxy("limits.address-handshake-rate", "1")) {
      int upgraded = 0;
      while (refused(bus, "address_handshake_rate") == 0) {
        try (RawClient client = prefaced(bus, v1("203.0.113.7"))) {
          upgraded += client.httpResponse.startsWith("HTTP/1.1 101 ") ? 1 : 0;
        }
      }
      assertThat(upgraded).isGreaterThanOrEqualTo(10);
    }
  }

  @Test
  void loopbackHasNoLimits() throws Exception {
    try (WatchedBus bus =
        WatchedBus.start(
            "limits.address-connections",
            "1",
            "limits.address-handshakes",
            "1",
            "limits.address-handshake-rate",
            "1")) {
      List<RawClient> clients = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        clients.add(RawClient.upgraded(bus.uri()));
        assertThat(clients.get(i).httpResponse).startsWith("HTTP/1.1 101 ");
      }
      for (RawClient client : clients) {
        client.close();
      }
    }
  }

  @Test
  void aProxyTellsTheClientBeforeTheRequest() throws Exception {
    byte[] v2 = HexFormat.of().parseHex("0d0a0d0a000d0a515549540a2111000ccb007107c0000201126701bb");
    try (WatchedBus bus = behindAProxy();
        RawClient one = prefaced(bus, v1("198.51.100.9"));
        RawClient two = prefaced(bus, v2)) {
      one.hello(null);
      two.hello(null);
      assertThat(connections(bus)).contains("198.51.100.9:4711", "203.0.113.7:4711");
    }
  }

  @Test
  void aProxyBehindAProxyTellsTheClientInTheRequest() throws Exception {
    try (WatchedBus bus = behindAProxy("listen.proxies", "127.0.0.1,10.0.0.0/8");
        RawClient client = RawClient.tcp(bus.uri())) {
      client.raw(v1("10.1.2.3"));
      client.upgrade("/bus", AVRO + "X-Forwarded-For: 192.0.2.66, 203.0.113.7\r\n");
      client.hello(null);
      assertThat(connections(bus)).contains("\"203.0.113.7\"").doesNotContain("192.0.2.66");
    }
  }

  @Test
  void onlyTrustedProxiesAreBelieved() throws Exception {
    try (WatchedBus bus =
            WatchedBus.start("listen.proxies", "192.0.2.1", "auth.anonymous", "everyone");
        RawClient preface = RawClient.tcp(bus.uri());
        RawClient binary = RawClient.tcp(bus.uri());
        RawClient header = forwarded(bus, "X-Forwarded-For: 203.0.113.7")) {
      double before = bus.closed("not_upgraded");
      preface.raw(v1("203.0.113.7"));
      preface.http("");
      assertThat(preface.httpResponse).startsWith("HTTP/1.1 400 ");
      binary.raw(
          HexFormat.of().parseHex("0d0a0d0a000d0a515549540a2111000ccb007107c0000201126701bb"));
      binary.http("\r\n\r\n");
      assertThat(binary.httpResponse).startsWith("HTTP/1.1 400 ");
      assertThat(bus.closed("not_upgraded")).isEqualTo(before + 2);
      header.hello(null);
      assertThat(connections(bus)).doesNotContain("203.0.113.7");
    }
  }

  @Test
  void aBrokenPrefaceEndsTheConnection() throws Exception {
    try (WatchedBus bus = behindAProxy();
        RawClient client = RawClient.tcp(bus.uri())) {
      double before = bus.closed("not_upgraded");
      client.raw("PROXY TCP4 nobody\r\n".getBytes(StandardCharsets.US_ASCII));
      client.awaitEnd();
      WatchedBus.await(() -> bus.closed("not_upgraded") == before + 1, () -> "not counted");
    }
  }

  @Test
  void headersThatContradictEachOtherAreRefused() throws Exception {
    ListAppender<ILoggingEvent> lines = logged();
    try (WatchedBus bus = behindAProxy();
        RawClient client =
            forwarded(bus, "X-Forwarded-For: 203.0.113.7\r\nForwarded: for=198.51.100.9")) {
      assertThat(client.httpResponse).startsWith("HTTP/1.1 400 ");
    }
    assertThat(lines.list)
        .anyMatch(line -> line.getFormattedMessage().contains("is refused with 400: "));
  }

  /** The bus's operator sees no log of a proxy. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        // PROXY TCP4 9.9.9.9 127.0.0.1 1 2
        "50524f5859205443503420392e392e392e39203132372e302e302e31203120320d0a",
        "0d0a0d0a000d0a515549540a2111000c090909097f00000100010002"
      })
  void aPrefaceOfAnUnknownProxyIsTold(String preface) throws Exception {
    ListAppender<ILoggingEvent> lines = logged();
    try (WatchedBus bus = WatchedBus.alone();
        RawClient client = prefaced(bus, HexFormat.of().parseHex(preface))) {
      assertThat(client.httpResponse).startsWith("HTTP/1.1 400 ");
    }
    assertThat(lines.list)
        .anyMatch(line -> line.getFormattedMessage().contains("has to be in listen.proxies"));
  }

  private static ListAppender<ILoggingEvent> logged() {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    ((Logger) LoggerFactory.getLogger("io.eventbus.server.transport.ConnectionAdmission"))
        .addAppender(lines);
    return lines;
  }

  @Test
  void guessingTokensIsSlow() throws Exception {
    try (WatchedBus bus = WatchedBus.alone("auth.token", "right")) {
      for (int i = 1; i <= 6; i++) {
        try (RawClient client = RawClient.upgraded(bus.uri())) {
          long before = System.nanoTime();
          client.send(hello("wrong"));
          // Bytes behind it are not read before the answer.
          client.send(TestFrames.barrier(1));
          assertThat(client.expectProblem().getMessage())
              .isEqualTo("the credentials in Hello are not ones that this bus accepts");
          assertThat(client.awaitClose()).isEqualTo(4500);
          if (i > 5) {
            assertThat(System.nanoTime() - before).isGreaterThan(900_000_000);
          }
        }
        assertThat(bus.metric("eventbus_authentication_failures_total")).isEqualTo(i);
      }
      try (RawClient client = RawClient.upgraded(bus.uri())) {
        client.send(hello("right"));
        client.expect(TypeCode.WELCOME);
      }
    }
  }

  @Test
  void aRolesFileSaysWhatClientsMayDo(@TempDir Path directory) throws Exception {
    Path roles =
        Files.writeString(
            directory.resolve("roles.conf"),
            """
            [role reader]
            allow subscribe a.>
            allow publish a.b
            [default]
            roles = reader
            """);
    try (WatchedBus bus =
            WatchedBus.alone("auth.token", "right", "auth.roles-file", roles.toString());
        RawClient client = RawClient.upgraded(bus.uri())) {
      client.send(hello("right"));
      client.expect(TypeCode.WELCOME);
      client.send(RawClient.publish("a.c", 1, true, "x"));
      refused(client, "publish to 'a.c' is not allowed to this client");
      client.send(subscribe(">", Overflow.DROP_OLDEST));
      refused(client, "subscribe to '>' is not allowed to this client");
      client.send(subscribe("a.>", Overflow.BLOCK));
      refused(client, "stall publishers (BLOCK) with 'a.>' is not allowed to this client");
      client.send(subscribe("$SYS.>", Overflow.DROP_OLDEST));
      refused(client, "observe '$SYS.>' is not allowed to this client");
      client.subscribe(1, "a.>", null, Overflow.DROP_OLDEST);
      client.send(RawClient.publish("a.b", 1, false, "x"));
      client.expect(TypeCode.DELIVER);
    }
  }

  private static byte[] subscribe(String filter, Overflow overflow) {
    return ControlFrames.encode(TypeCode.SUBSCRIBE, new Subscribe(1L, filter, null, overflow));
  }

  private static void refused(RawClient client, String start) throws Exception {
    Problem problem = client.expectProblem();
    assertThat(problem.getCode()).isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(problem.getMessage())
        .startsWith(start)
        .contains("role reader")
        .doesNotContain("a.b");
  }

  private static byte[] hello(String token) {
    return ControlFrames.encode(
        TypeCode.HELLO, new Hello("raw", "test", token, null, Map.of(), null, null, null));
  }

  @Test
  void aBusWithFewDescriptorsServesItsAdministration() throws Exception {
    // None of them says Hello, and on a busy machine 400 take a while.
    BusProcess process = BusProcess.limited(300, "admin.port", "0", "timeouts.hello", "5m");
    List<RawClient> clients = new ArrayList<>();
    try {
      int welcome = 0;
      for (int i = 0; i < 400; i++) {
        RawClient client = RawClient.tcp(process.uri());
        clients.add(client);
        welcome += isUpgraded(client) ? 1 : 0;
      }
      assertThat(welcome).isBetween(1, 235);
      String metrics = process.admin("/metrics");
      assertThat(process.admin("/healthz")).contains("UP");
      assertThat(metrics).contains("eventbus_connections_limit " + welcome + ".0");
      double refused = 400 - welcome;
      assertThat(metrics.lines().filter(l -> l.contains("{reason=\"descriptors\"}")).toList())
          .anyMatch(l -> l.endsWith(" " + refused));
      assertThat(process.admin("/api/v1/bus")).contains("ulimit -n");
    } finally {
      for (RawClient client : clients) {
        client.close();
      }
      process.kill();
    }
  }

  private static boolean isUpgraded(RawClient client) {
    try {
      client.upgrade("/bus", AVRO);
      return client.httpResponse.startsWith("HTTP/1.1 101 ");
    } catch (IOException e) {
      // Closed without a word.
      return false;
    }
  }

  @Test
  void handshakesOfTlsAreNotDoneByTheLoops() throws Exception {
    try (TestCertificate certificate = TestCertificate.make();
        WatchedBus bus =
            WatchedBus.alone(
                "tls.certificate",
                certificate.certificatePem().toString(),
                "tls.key",
                certificate.keyPem().toString())) {
      try (RawClient client =
          RawClient.over(
              certificate
                  .trusting()
                  .getSocketFactory()
                  .createSocket("127.0.0.1", bus.uri().getPort()))) {
        client.upgrade("/bus", AVRO).hello(null);
      }
      Set<Thread> threads = Thread.getAllStackTraces().keySet();
      assertThat(threads).anyMatch(t -> t.getName().startsWith("eventbus-tls-"));
    }
  }
}
