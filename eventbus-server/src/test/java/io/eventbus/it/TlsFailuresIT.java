package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.eventbus.server.BusServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Handshakes that fail are counted, and cost one line of the log for each reason. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class TlsFailuresIT {
  private static final int TIMES = 60;

  private static TestCertificate ofBus;
  private static TestCertificate other;

  private final Lines lines = new Lines();
  private SSLContext trusting;
  private BusServer bus;

  private static final class Lines extends AppenderBase<ILoggingEvent> {
    final List<ILoggingEvent> written = new CopyOnWriteArrayList<>();

    @Override
    protected void append(ILoggingEvent event) {
      if (event.getLevel().isGreaterOrEqual(Level.INFO)) {
        written.add(event);
      }
    }

    List<String> texts() {
      return written.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }
  }

  @BeforeAll
  static void make() throws Exception {
    ofBus = TestCertificate.make();
    // With the name of the authority: a client shows only certificates of that issuer.
    other = TestCertificate.make();
  }

  @AfterAll
  static void forget() throws IOException {
    ofBus.close();
    other.close();
  }

  @BeforeEach
  void start() throws Exception {
    trusting = ofBus.trusting();
    bus =
        TestBus.start(
            "tls.certificate", ofBus.certificatePem().toString(),
            "tls.key", ofBus.keyPem().toString(),
            "tls.client-ca", ofBus.certificatePem().toString(),
            "tls.client-auth", "required",
            "auth.certificate-subject", "cn",
            "admin.tls-certificate", ofBus.certificatePem().toString(),
            "admin.tls-key", ofBus.keyPem().toString(),
            // Connections that end are not what is tested.
            "timeouts.upgrade", "30s");
    lines.start();
    root().addAppender(lines);
  }

  @AfterEach
  void stop() {
    root().detachAppender(lines);
    bus.close();
  }

  private static Logger root() {
    return (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  }

  private String metrics() throws Exception {
    return HttpClient.newBuilder()
        .sslContext(trusting)
        .build()
        .send(
            HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + bus.adminPort() + "/metrics"))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  private long counted(String reason) throws Exception {
    String metrics = metrics();
    String name = "eventbus_tls_failures_total{reason=\"" + reason + "\"} ";
    return metrics
        .lines()
        .filter(line -> line.startsWith(name))
        .map(line -> (long) Double.parseDouble(line.substring(name.length())))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + name + " in " + metrics));
  }

  private void awaitCount(String reason, long count) {
    WatchedBus.await(
        () -> {
          try {
            return counted(reason) >= count;
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        },
        () -> reason + " is not counted " + count + " times");
  }

  private void sendAndClose(int port, byte[] hello) throws IOException {
    for (int i = 0; i < TIMES; i++) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        if (i % 2 == 0) {
          socket.setSoLinger(true, 0);
        }
        socket.getOutputStream().write(hello);
      }
    }
  }

  private void sendAndWait(int port, byte[] hello) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.getOutputStream().write(hello);
      socket.getInputStream().readAllBytes();
    } catch (SocketException e) {
      // Reset: the end as well.
      return;
    }
  }

  private void assertNothingButOneLine(String what) {
    assertThat(lines.written).allSatisfy(line -> assertThat(line.getThrowableProxy()).isNull());
    assertThat(lines.texts())
        .singleElement()
        .satisfies(line -> assertThat(line).contains("the TLS handshake of 127.0.0.1:", what));
  }

  @Test
  void hellosThatFitNothingCostOneLine() throws Exception {
    byte[] noCipher = TlsHellos.withoutCommonCipher(trusting);
    sendAndWait(bus.port(), noCipher);
    awaitCount("protocol", 1);
    sendAndClose(bus.port(), noCipher);
    sendAndClose(bus.port(), TlsHellos.withKeyShareOfZeros(trusting));
    sendAndWait(bus.port(), TlsHellos.withKeyShareOfZeros(trusting));
    awaitCount("protocol", 2);
    assertNothingButOneLine("no cipher suites in common");
  }

  /** The bytes of the preface alone say nothing to an operator. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "50524f5859205443503420392e392e392e39203132372e302e302e31203120320d0a",
        "0d0a0d0a000d0a515549540a2111000c090909097f00000100010002"
      })
  void aPrefaceOfAnUnknownProxyIsNamed(String preface) throws Exception {
    sendAndWait(bus.port(), HexFormat.of().parseHex(preface));
    awaitCount("protocol", 1);
    assertNothingButOneLine("has to be in listen.proxies");
  }

  @Test
  void aCertificateThatIsRefusedCostsOneLineWithItsSubject() throws Exception {
    SSLContext stranger = other.identified(ofBus);
    for (int i = 0; i < TIMES; i++) {
      try (SSLSocket socket =
          (SSLSocket) stranger.getSocketFactory().createSocket("127.0.0.1", bus.port())) {
        // With TLS 1.3 it has ended for the client before the bus verifies the certificate.
        socket.startHandshake();
      } catch (IOException e) {
        // The bus was faster.
      }
    }
    awaitCount("certificate", 1);
    assertNothingButOneLine("CN=bus: PKIX path");
  }

  @Test
  void noCertificateWhereOneIsRequiredCostsOneLine() throws Exception {
    try (SSLSocket socket =
        (SSLSocket) trusting.getSocketFactory().createSocket("127.0.0.1", bus.port())) {
      assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(IOException.class);
    }
    awaitCount("certificate", 1);
    assertNothingButOneLine("Empty client certificate chain");
  }

  @Test
  void aClientThatDoesNotTrustTheBusCostsOneLine() throws Exception {
    try (SSLSocket socket =
        (SSLSocket) other.trusting().getSocketFactory().createSocket("127.0.0.1", bus.port())) {
      assertThatThrownBy(socket::startHandshake).isInstanceOf(IOException.class);
    }
    awaitCount("alert", 1);
    assertNothingButOneLine("Received fatal alert: ");
  }

  @Test
  void atTheAdministrationPortTheyCostOneLineAsWell() throws Exception {
    for (byte[] hello :
        List.of(TlsHellos.withoutCommonCipher(trusting), TlsHellos.withKeyShareOfZeros(trusting))) {
      sendAndClose(bus.adminPort(), hello);
      sendAndWait(bus.adminPort(), hello);
    }
    assertThat(lines.written).allSatisfy(line -> assertThat(line.getThrowableProxy()).isNull());
    assertThat(lines.texts())
        .singleElement()
        .satisfies(line -> assertThat(line).contains("at the administration port has failed: "));
    assertThat(metrics()).doesNotContain("eventbus_admin_tls_failures_total 0.0");
  }
}
