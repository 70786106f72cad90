package io.eventbus.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Links with certificates of the cluster's own authority. */
@Timeout(120)
class LinkTlsTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final int ECHO = 7;

  // Every certificate takes processes; one set serves all tests.
  private static TestAuthority ours;
  private static TestAuthority theirs;

  private final List<LinkNode> nodes = new ArrayList<>();

  @BeforeAll
  static void authorities(@TempDir Path root) throws Exception {
    ours = new TestAuthority(root.resolve("ours"));
    theirs = new TestAuthority(root.resolve("theirs"));
  }

  @AfterEach
  void close() {
    nodes.forEach(LinkNode::close);
  }

  private LinkNode node(String bus, LinkSecurity security) {
    LinkNode node =
        new LinkNode(
            LinkOptions.DEFAULT.withTimes(
                Duration.ofSeconds(5), Duration.ofSeconds(1), Duration.ofSeconds(4)),
            new LinkIdentity(bus, ""),
            security);
    nodes.add(node);
    return node;
  }

  private static InetSocketAddress listen(LinkNode node) throws Exception {
    node.offer(ECHO, (peer, request) -> CompletableFuture.completedFuture(request));
    return node.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  private static CompletableFuture<byte[]> call(LinkNode from, InetSocketAddress to) {
    return from.call(to, "test", ECHO, new byte[] {1, 2, 3}, LONG);
  }

  private static Throwable failure(CompletableFuture<byte[]> call) {
    ExecutionException e =
        catchThrowableOfType(ExecutionException.class, () -> call.get(60, TimeUnit.SECONDS));
    assertThat(e).as("no answer").isNotNull();
    return e;
  }

  @Test
  void busesWithCertificatesOfOneAuthoritySpeakToEachOther() throws Exception {
    LinkNode a = node("a", ours.of("a", ours, LinkSecurity.none()));
    LinkNode b = node("b", ours.of("b", ours, LinkSecurity.none()));
    assertThat(call(b, listen(a)).get(60, TimeUnit.SECONDS)).containsExactly(1, 2, 3);
    assertThat(call(a, listen(b)).get(60, TimeUnit.SECONDS)).containsExactly(1, 2, 3);
  }

  @Test
  void aBusWithACertificateOfAnotherAuthorityGetsNothing() throws Exception {
    LinkNode a = node("a", ours.of("a", ours, LinkSecurity.none()));
    InetSocketAddress address = listen(a);
    // The stranger trusts us, we do not trust it; and the other way round.
    LinkNode stranger = node("b", theirs.of("b", ours, LinkSecurity.none()));
    assertThat(failure(call(stranger, address))).hasRootCauseInstanceOf(Exception.class);
    assertThat(failure(call(a, listen(stranger)))).hasMessageContaining("LinkException");
    // The other node trusts its own authority only, so it does not even speak to us.
    LinkNode other = node("c", theirs.of("c", theirs, LinkSecurity.none()));
    assertThat(failure(call(other, address))).hasMessageContaining("LinkException");
    LinkNode friend = node("d", ours.of("d", ours, LinkSecurity.none()));
    assertThat(call(friend, address).get(60, TimeUnit.SECONDS)).hasSize(3);
  }

  @Test
  void refusesAPeerWithoutTls() throws Exception {
    LinkNode a = node("a", ours.of("a", ours, LinkSecurity.none()));
    LinkNode plain = node("b", LinkSecurity.none());
    assertThat(failure(call(plain, listen(a)))).hasMessageContaining("LinkException");
    assertThat(failure(call(a, listen(plain)))).hasMessageContaining("LinkException");
  }

  /**
   * Returns the first bytes of a client that wants a certificate with an RSA key: there is none.
   */
  private static byte[] helloWithoutCommonCipher() throws Exception {
    SSLEngine client = SSLContext.getDefault().createSSLEngine();
    client.setUseClientMode(true);
    SSLParameters offered = client.getSSLParameters();
    offered.setProtocols(new String[] {"TLSv1.2"});
    offered.setCipherSuites(new String[] {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"});
    client.setSSLParameters(offered);
    ByteBuffer record = ByteBuffer.allocate(client.getSession().getPacketBufferSize());
    client.wrap(ByteBuffer.allocate(0), record);
    return Arrays.copyOf(record.array(), record.position());
  }

  @Test
  void handshakesThatFailCostOneLineAndAreCounted() throws Exception {
    LinkNode a = node("a", ours.of("a", ours, LinkSecurity.none()));
    InetSocketAddress address = listen(a);
    byte[] hello = helloWithoutCommonCipher();
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.list = new CopyOnWriteArrayList<>();
    Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    Logger ofLinks = (Logger) LoggerFactory.getLogger(ServerHandshake.class);
    lines.start();
    root.addAppender(lines);
    ofLinks.setLevel(Level.INFO);
    try {
      for (int i = 0; i < 60; i++) {
        try (Socket leaving = new Socket(address.getAddress(), address.getPort())) {
          leaving.getOutputStream().write(hello);
        }
      }
      long before = a.strangers();
      try (Socket waiting = new Socket(address.getAddress(), address.getPort())) {
        waiting.getOutputStream().write(hello);
        waiting.getInputStream().readAllBytes();
      }
      LinkNode stranger = node("b", theirs.of("b", ours, LinkSecurity.none()));
      failure(call(stranger, address));
      assertThat(a.strangers()).isGreaterThanOrEqualTo(before + 2);
    } finally {
      root.detachAppender(lines);
      ofLinks.setLevel(null);
    }
    assertThat(lines.list)
        .filteredOn(line -> line.getLevel().isGreaterOrEqual(Level.INFO))
        .singleElement()
        .satisfies(line -> assertThat(line.getThrowableProxy()).isNull())
        .satisfies(
            line ->
                assertThat(line.getFormattedMessage())
                    .contains("A link from /127.0.0.1:", "no cipher suites in common"));
  }

  @Test
  void aCertificateDoesNotStandInForTheSecret() throws Exception {
    byte[] secret = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    LinkNode a = node("a", ours.of("a", ours, LinkSecurity.sharedSecret(secret)));
    InetSocketAddress address = listen(a);
    LinkNode without = node("b", ours.of("b", ours, LinkSecurity.none()));
    assertThat(failure(call(without, address)).getCause())
        .isInstanceOfSatisfying(
            LinkException.class,
            e -> assertThat(e.refusal()).isEqualTo(LinkRefusal.AUTHENTICATION));
    LinkNode with = node("c", ours.of("c", ours, LinkSecurity.sharedSecret(secret)));
    assertThat(call(with, address).get(60, TimeUnit.SECONDS)).hasSize(3);
  }

  @Test
  void linksThatBeginLaterUseTheNewCertificatesAndOpenOnesGoOn() throws Exception {
    LinkSecurity securityOfA = ours.of("a", ours, LinkSecurity.none());
    LinkNode a = node("a", securityOfA);
    InetSocketAddress address = listen(a);
    LinkNode b = node("b", ours.of("b", ours, LinkSecurity.none()));
    assertThat(call(b, address).get(60, TimeUnit.SECONDS)).hasSize(3);
    theirs.use("a", theirs, securityOfA);
    assertThat(call(b, address).get(60, TimeUnit.SECONDS)).hasSize(3);
    LinkNode late = node("c", ours.of("c", ours, LinkSecurity.none()));
    assertThat(failure(call(late, address))).hasMessageContaining("LinkException");
    LinkNode renewed = node("d", theirs.of("d", theirs, LinkSecurity.none()));
    assertThat(call(renewed, address).get(60, TimeUnit.SECONDS)).hasSize(3);
  }

  @Test
  void refusesCertificatesWithoutTls() {
    assertThatThrownBy(() -> ours.use("a", ours, LinkSecurity.none()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("withTls");
    assertThatThrownBy(LinkSecurity.none().withTls()::server)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("useTls");
  }
}
