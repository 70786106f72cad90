package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Welcome;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Connections over TLS, with a certificate that the test makes. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class TlsIT {
  // Each takes a process; one set serves all tests.
  private static TestCertificate first;
  private static TestCertificate second;

  private Path directory;
  private SSLContext context;
  private BusServer bus;

  @BeforeAll
  static void certificates() throws Exception {
    first = TestCertificate.make();
    second = TestCertificate.make();
  }

  @AfterAll
  static void forget() throws IOException {
    first.close();
    second.close();
  }

  @BeforeEach
  void start(@TempDir Path directory) throws Exception {
    this.directory = directory;
    use(first);
    bus =
        TestBus.start(
            "tls.certificate",
            directory.resolve("certificate.pem").toString(),
            "tls.key",
            directory.resolve("key.pem").toString(),
            "timeouts.close",
            "1s");
  }

  private void use(TestCertificate certificate) throws Exception {
    Files.copy(
        certificate.certificatePem(),
        directory.resolve("certificate.pem"),
        StandardCopyOption.REPLACE_EXISTING);
    Files.copy(
        certificate.keyPem(), directory.resolve("key.pem"), StandardCopyOption.REPLACE_EXISTING);
    context = certificate.trusting();
  }

  @AfterEach
  void stop() {
    bus.close();
  }

  private RawClient tls() throws IOException {
    return tls(context, bus);
  }

  private static RawClient tls(SSLContext by, BusServer to) throws IOException {
    SSLSocket socket =
        (SSLSocket) by.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), to.port());
    socket.startHandshake();
    return RawClient.over(socket);
  }

  /** The same certificate is the authority's, the bus's and the client's. */
  @Test
  void aClientMayProveWithACertificateWhoItIs() throws Exception {
    SSLContext withCertificate = first.identified();
    try (BusServer asking =
            TestBus.start(
                "tls.certificate",
                first.certificatePem().toString(),
                "tls.key",
                first.keyPem().toString(),
                "tls.client-ca",
                first.certificatePem().toString(),
                "tls.client-auth",
                "optional",
                "auth.certificate-subject",
                "cn");
        RawClient known = tls(withCertificate, asking);
        RawClient unknown = tls(context, asking)) {
      known.upgrade("/bus", "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n");
      Welcome first = known.hello(null);
      unknown.upgrade("/bus", "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n");
      unknown.send(
          ControlFrames.encode(
              TypeCode.HELLO, new Hello("raw", "test", null, null, Map.of(), null, null, null)));
      assertThat(unknown.expectProblem().getMessage()).contains("there were no credentials");
      assertThat(unknown.awaitClose()).isEqualTo(4500);
      assertThat(first.getProducer())
          .as("a number that follows from the name as well")
          .isNotEqualTo(
              ByteBuffer.wrap(
                          MessageDigest.getInstance("SHA-256")
                              .digest(first.getResume().getBytes(StandardCharsets.UTF_8)))
                      .getLong()
                  & Long.MAX_VALUE);
    }
  }

  private RawClient welcomed() throws IOException {
    RawClient client =
        tls().upgrade(bus.uri().getPath(), "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n");
    client.hello(null);
    return client;
  }

  @Test
  void eventsGoOverTls() throws Exception {
    assertThat(bus.uri().getScheme()).isEqualTo("wss");
    try (WellBehaved pair = WellBehaved.start(welcomed(), welcomed());
        RawClient subscriber = welcomed();
        RawClient publisher = welcomed()) {
      subscriber.subscribe(1, "big");
      for (int i = 1; i <= 10; i++) {
        publisher.send(RawClient.publish("big", i, true, new byte[500_000]));
        publisher.expectConfirm();
        assertThat(subscriber.expectDeliver().payloads().get(0)).hasSize(500_000);
      }
      pair.awaitProgress();
    }
  }

  @Test
  void newConnectionsGetANewCertificateAndOpenOnesGoOn() throws Exception {
    try (WellBehaved pair = WellBehaved.start(welcomed(), welcomed())) {
      SSLContext trustsFirst = context;
      use(second);
      bus.reload();
      pair.awaitProgress();
      try (RawClient late = welcomed()) {
        late.subscribe(1, "late");
      }
      context = trustsFirst;
      assertThatThrownBy(this::tls).isInstanceOf(SSLException.class);
      pair.awaitProgress();
    }
  }

  @Test
  @Tag("nightly")
  void certificatesThatChangeUnderLoadLoseNothing() throws Exception {
    context = TestCertificate.trustingAny(first, second);
    SSLContext both = context;
    try (WellBehaved pair = WellBehaved.start(welcomed(), welcomed())) {
      ExecutorService threads = Executors.newFixedThreadPool(4);
      AtomicBoolean stop = new AtomicBoolean();
      AtomicInteger connected = new AtomicInteger();
      List<Future<?>> connecting = new ArrayList<>();
      try {
        for (int i = 0; i < 4; i++) {
          connecting.add(
              threads.submit(
                  () -> {
                    while (!stop.get()) {
                      try (RawClient client =
                          tls(both, bus)
                              .upgrade(
                                  bus.uri().getPath(),
                                  "Sec-WebSocket-Protocol: eventbus.v1.avro\r\n")) {
                        client.hello(null);
                        connected.incrementAndGet();
                      }
                    }
                    return null;
                  }));
        }
        for (int i = 1; i <= 20; i++) {
          use(i % 2 == 0 ? first : second);
          bus.reload();
          int before = connected.get();
          WatchedBus.await(() -> connected.get() > before + 8, () -> "nobody connects any more");
          pair.awaitProgress();
        }
      } finally {
        stop.set(true);
        threads.shutdown();
      }
      for (Future<?> each : connecting) {
        each.get(60, TimeUnit.SECONDS);
      }
      pair.awaitProgress();
    }
  }

  @Test
  void violationsAreClosedWithTheirCode() throws Exception {
    try (RawClient text = welcomed();
        RawClient malformed = welcomed()) {
      text.sendFrame(0x81, new byte[] {'x'});
      assertThat(text.awaitClose()).isEqualTo(1003);
      malformed.send(TestFrames.frame(2, new byte[] {1}));
      Ending ending = Ending.of(malformed);
      assertThat(ending.code()).isEqualTo(1007);
      assertThat(ending.problems()).hasSize(1);
    }
  }

  @Test
  void httpWithoutTlsEnds() throws Exception {
    URI plain = URI.create("http://localhost:" + bus.port());
    try (RawClient client = RawClient.tcp(plain)) {
      client.raw("GET /bus HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      client.awaitEnd();
    }
  }

  @Test
  void aHandshakeThatDoesNotGoOnEndsAtTheDeadline() throws Exception {
    // With a bus of its own: on a busy machine an honest handshake takes as long.
    try (BusServer hurried =
            TestBus.start(
                "tls.certificate",
                first.certificatePem().toString(),
                "tls.key",
                first.keyPem().toString(),
                "timeouts.upgrade",
                "2s",
                "timeouts.close",
                "1s");
        RawClient silent = RawClient.tcp(hurried.uri());
        RawClient half = RawClient.tcp(hurried.uri());
        RawClient noRequest = tls(context, hurried)) {
      half.raw(new byte[] {22, 3, 1, 2, 0, 1});
      silent.awaitEnd();
      half.awaitEnd();
      assertThat(noRequest.input().read()).isEqualTo(-1);
    }
  }

  @Test
  void aPlainPageIsShownOverTls() throws Exception {
    try (RawClient client = tls()) {
      client.http("GET /bus HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.httpResponse).startsWith("HTTP/1.1 200 ");
    }
  }

  @Test
  void aSubscriberThatEndsItsHalfIsForgotten() throws Exception {
    try (RawClient subscriber = welcomed();
        RawClient publisher = welcomed()) {
      subscriber.subscribe(1, "half");
      ((SSLSocket) subscriber.socket()).shutdownOutput();
      assertThat(subscriber.awaitClose()).isEqualTo(-1);
      publisher.send(RawClient.publish("half", 1, true, "x"));
      publisher.expectConfirm();
    }
  }

  @Test
  void garbageInsideTlsEndsOnlyThatConnection() throws Exception {
    try (WellBehaved pair = WellBehaved.start(welcomed(), welcomed())) {
      URI plain = URI.create("http://localhost:" + bus.port());
      try (RawClient garbage = RawClient.tcp(plain)) {
        garbage.raw(new byte[10_000]);
        garbage.awaitEnd();
      }
      pair.awaitProgress();
    }
  }
}
