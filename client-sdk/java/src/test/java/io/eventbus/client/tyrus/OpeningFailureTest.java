package io.eventbus.client.tyrus;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.base.TransportProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Messages of the usual mistakes in connecting, at real sockets. */
@Timeout(120)
class OpeningFailureTest {
  private static final String PASSWORD = "only-for-tests";
  private static final int MILLIS = 10_000;

  private static SSLContext serverContext;

  private final Transport transport =
      new TyrusTransportProvider().create(new TransportProvider.Settings("proto", 64 * 1024, null));

  @BeforeAll
  static void makeCertificate(@TempDir Path directory) throws Exception {
    Path store = directory.resolve("keys.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1",
                "-genkeypair",
                "-keyalg",
                "EC",
                "-alias",
                "bus",
                "-dname",
                "CN=localhost",
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("keytool.log").toFile())
            .start();
    assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray()), PASSWORD.toCharArray());
    serverContext = SSLContext.getInstance("TLS");
    serverContext.init(keys.getKeyManagers(), null, null);
  }

  @AfterEach
  void close() {
    transport.close();
  }

  /** Connects, and returns the message for a person. */
  private String failureOf(String url) throws Exception {
    CompletableFuture<String> told = new CompletableFuture<>();
    transport.connect(
        URI.create(url),
        Duration.ofSeconds(10),
        new Transport.Listener() {
          @Override
          public void onOpen(Transport.Channel channel) {
            told.complete("open");
          }

          @Override
          public void onFailed(Throwable failure) {
            told.complete(String.valueOf(failure.getMessage()));
          }

          @Override
          public void onMessage(ByteBuffer message) {}

          @Override
          public void onPong() {}

          @Override
          public void onClosed(int code, String reason) {
            told.complete("closed " + code);
          }
        });
    return told.get(60, TimeUnit.SECONDS);
  }

  private static ServerSocket listen() throws IOException {
    ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    server.setSoTimeout(MILLIS);
    return server;
  }

  /** Treatment of the only connection. */
  private interface Peer {
    void talk(Socket socket) throws IOException;
  }

  private static void serve(ServerSocket server, Peer peer) {
    CompletableFuture<Void> unused =
        CompletableFuture.runAsync(
            () -> {
              try (Socket socket = server.accept()) {
                socket.setSoTimeout(MILLIS);
                peer.talk(socket);
              } catch (IOException e) {
                // The other side closes as soon as it has seen enough.
              }
            });
  }

  private static void speakTls(Socket plain) throws IOException {
    try (SSLSocket socket =
        (SSLSocket) serverContext.getSocketFactory().createSocket(plain, null, true)) {
      socket.startHandshake();
      socket.getInputStream().read();
    }
  }

  @Test
  void namesAMissingBusWhenTheConnectionIsRefused() throws Exception {
    int port;
    try (ServerSocket server = listen()) {
      port = server.getLocalPort();
    }
    assertThat(failureOf("ws://localhost:" + port + "/bus"))
        .containsIgnoringCase("connection refused")
        .contains("is a bus running at localhost:" + port + "?");
  }

  @Test
  void aCertificateThatIsNotTrustedIsCalledThat() throws Exception {
    try (ServerSocket server = listen()) {
      serve(server, OpeningFailureTest::speakTls);
      String at = "localhost:" + server.getLocalPort();
      assertThat(failureOf("wss://" + at + "/bus"))
          .contains("the certificate of " + at + " is not trusted")
          .contains("SSLContext");
    }
  }

  @Test
  void aTlsPortThatIsSpokenToWithoutIsCalledThat() throws Exception {
    try (ServerSocket server = listen()) {
      serve(server, OpeningFailureTest::speakTls);
      assertThat(failureOf("ws://localhost:" + server.getLocalPort() + "/bus"))
          .contains("is it a port for wss:// and not ws://?");
    }
  }

  @Test
  void aTlsPortThatClosesWithoutAWordIsCalledThat() throws Exception {
    try (ServerSocket server = listen()) {
      serve(server, socket -> assertThat(socket.getInputStream().read()).isEqualTo('G'));
      assertThat(failureOf("ws://localhost:" + server.getLocalPort() + "/bus"))
          .contains("is it a port for wss:// and not ws://?");
    }
  }

  @Test
  void aPlainPortThatIsSpokenToInTlsIsCalledThat() throws Exception {
    try (ServerSocket server = listen()) {
      serve(
          server,
          socket -> {
            assertThat(socket.getInputStream().read()).isEqualTo(0x16);
            socket
                .getOutputStream()
                .write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            while (socket.getInputStream().read() >= 0) {
              // Until the other side closes.
            }
          });
      assertThat(failureOf("wss://localhost:" + server.getLocalPort() + "/bus"))
          .contains("does not answer in TLS")
          .contains("is it a port for ws:// and not wss://?");
    }
  }

  @Test
  void aPlainPortThatClosesWithoutAWordIsCalledThat() throws Exception {
    try (ServerSocket server = listen()) {
      serve(server, socket -> assertThat(socket.getInputStream().read()).isEqualTo(0x16));
      assertThat(failureOf("wss://localhost:" + server.getLocalPort() + "/bus"))
          .contains("is it a port for ws:// and not wss://?");
    }
  }
}
