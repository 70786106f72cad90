package io.eventbus.client.tyrus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.base.TransportProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Adapter against a socket of the test's own, which can do what no WebSocket server does. */
@Timeout(180)
class TyrusTransportTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final Told told = new Told();
  private final Transport transport = transport();
  private WebSocketPeer peer;

  private static Transport transport() {
    return new TyrusTransportProvider()
        .create(new TransportProvider.Settings("proto", 64 * 1024, null));
  }

  /**
   * Length, in bytes, above which a message is recorded without its content: texts of megabytes
   * take seconds.
   */
  private static final int LONG = 1024;

  private static final class Told implements Transport.Listener {
    final CompletableFuture<Transport.Channel> channel = new CompletableFuture<>();
    final BlockingQueue<String> calls = new LinkedBlockingQueue<>();
    volatile boolean pauses;
    volatile @Nullable Integer accepts;
    volatile String closeReason = "";

    @Override
    public void onOpen(Transport.Channel opened) {
      channel.complete(opened);
    }

    @Override
    public void onFailed(Throwable failure) {
      channel.completeExceptionally(failure);
    }

    @Override
    public void onMessage(ByteBuffer message) {
      if (pauses) {
        channel.join().pauseReading();
      }
      Integer max = accepts;
      if (max != null) {
        channel.join().acceptMessages(max);
      }
      if (message.remaining() > LONG) {
        calls.add("message of " + message.remaining() + " bytes");
        return;
      }
      byte[] bytes = new byte[message.remaining()];
      message.get(bytes);
      calls.add("message " + Arrays.toString(bytes));
    }

    @Override
    public void onPong() {
      calls.add("pong");
    }

    @Override
    public void onClosed(int code, String reason) {
      closeReason = reason;
      calls.add("closed " + code);
    }

    Transport.Channel open() throws Exception {
      return channel.get(60, TimeUnit.SECONDS);
    }
  }

  @BeforeEach
  void listen() throws IOException {
    peer = new WebSocketPeer();
  }

  @AfterEach
  void close() throws IOException {
    transport.close();
    peer.close();
  }

  private Transport.Channel connect() throws Exception {
    transport.connect(peer.url(), TIMEOUT, told);
    peer.accept();
    peer.upgrade("Sec-WebSocket-Protocol: proto\r\n");
    return told.open();
  }

  private String next() throws InterruptedException {
    return String.valueOf(told.calls.poll(60, TimeUnit.SECONDS));
  }

  @Test
  void aPingGoesOutAndItsPongIsTold() throws Exception {
    Transport.Channel channel = connect();
    channel.ping();
    assertThat(peer.in().readUnsignedByte()).isEqualTo(0x89);
    peer.write(0x8A, 0);
    assertThat(next()).isEqualTo("pong");
  }

  @Test
  void aPingIsAnswered() throws Exception {
    connect();
    peer.write(0x89, 1, 7);
    assertThat(peer.readFrame()).containsExactly(0x8A, 7);
  }

  @Test
  void aConnectionThatIsResetHasCode1006() throws Exception {
    connect();
    peer.reset();
    assertThat(next()).isEqualTo("closed 1006");
  }

  @Test
  void aConnectionThatThisSideAbortsHasCode1006() throws Exception {
    connect().abort();
    assertThat(next()).isEqualTo("closed 1006");
    assertThat(peer.isEnded()).isTrue();
  }

  @Test
  void aCloseFrameKeepsItsCode() throws Exception {
    connect();
    peer.write(0x88, 2, 1001 >> 8, 1001 & 0xFF);
    assertThat(next()).isEqualTo("closed 1001");
  }

  @Test
  void aCloseGoesOutWithItsCode() throws Exception {
    connect().close(1000, "");
    assertThat(peer.readFrame()).containsExactly(0x88, 1000 >> 8, 1000 & 0xFF);
    assertThat(peer.isEnded()).isTrue();
    assertThat(next()).isEqualTo("closed 1000");
  }

  @Test
  void aMessageGoesOutMaskedInOneFrame() throws Exception {
    Transport.Channel channel = connect();
    CompletableFuture<@Nullable Throwable> sent = new CompletableFuture<>();
    channel.send(ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), sent::complete);
    assertThat(peer.readFrame()).containsExactly(0x82, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    assertThat(sent.get(60, TimeUnit.SECONDS)).isNull();
  }

  @Test
  void sendingAfterTheEndFails() throws Exception {
    Transport.Channel channel = connect();
    channel.abort();
    CompletableFuture<@Nullable Throwable> sent = new CompletableFuture<>();
    channel.send(ByteBuffer.wrap(new byte[] {1}), sent::complete);
    assertThat(sent.get(60, TimeUnit.SECONDS)).isNotNull();
  }

  @Test
  void messagesWholeAndInFragmentsArrive() throws Exception {
    connect();
    peer.write(0x82, 2, 1, 2, 0x02, 1, 3, 0x89, 0, 0x80, 1, 4, 0x82, 1, 5);
    assertThat(next()).isEqualTo("message [1, 2]");
    assertThat(next()).isEqualTo("message [3, 4]");
    assertThat(next()).isEqualTo("message [5]");
  }

  @Test
  void aMessageThatIsTooBigEndsTheConnectionWithAReason() throws Exception {
    connect();
    peer.write(0x82, 127, 0, 0, 0, 0, 0, 1, 0, 1);
    assertThat(peer.readFrame()).startsWith(0x88, 1009 >> 8, 1009 & 0xFF);
    assertThat(next()).isEqualTo("closed 1006");
    assertThat(told.closeReason).isEqualTo("frame bytes: 65537 (expected: at most 65536)");
  }

  @Test
  void theMaximumMessageSizeCanBeChanged() throws Exception {
    connect();
    told.accepts = 70_000;
    peer.write(0x82, 1, 1);
    assertThat(next()).isEqualTo("message [1]");
    int[] big = new int[10 + 65_537];
    System.arraycopy(new int[] {0x82, 127, 0, 0, 0, 0, 0, 1, 0, 1}, 0, big, 0, 10);
    peer.write(big);
    assertThat(next()).isEqualTo("message of 65537 bytes");
    // Also in fragments, which take another way.
    int[] first = new int[4 + 40_000];
    System.arraycopy(new int[] {0x02, 126, 40_000 >> 8, 40_000 & 0xFF}, 0, first, 0, 4);
    int[] last = first.clone();
    last[0] = 0x80;
    last[2] = 29_000 >> 8;
    last[3] = 29_000 & 0xFF;
    peer.write(first);
    peer.write(Arrays.copyOf(last, 4 + 29_000));
    assertThat(next()).isEqualTo("message of 69000 bytes");
  }

  @Test
  void aPausedConnectionIsNotReadUntilItGoesOn() throws Exception {
    Transport.Channel channel = connect();
    told.pauses = true;
    peer.write(0x82, 1, 1, 0x82, 1, 2);
    assertThat(next()).isEqualTo("message [1]");
    peer.write(0x82, 1, 3);
    assertThat(told.calls.poll(50, TimeUnit.MILLISECONDS)).isNull();
    channel.resumeReading();
    assertThat(next()).isEqualTo("message [2]");
    told.pauses = false;
    channel.resumeReading();
    assertThat(next()).isEqualTo("message [3]");
    peer.write(0x82, 1, 4);
    assertThat(next()).isEqualTo("message [4]");
  }

  @Test
  void aPausedConnectionHoldsTheOtherSideBackAndNoOtherConnection() throws Exception {
    Transport.Channel channel = connect();
    told.pauses = true;
    byte[] frame = new byte[64 * 1024];
    frame[0] = (byte) 0x82;
    frame[1] = 126;
    frame[2] = (byte) ((frame.length - 4) >> 8);
    frame[3] = (byte) (frame.length - 4);
    CompletableFuture<Long> written = peer.writeUntilHeldBack(frame, 2_000);
    assertThat(next()).startsWith("message");
    try (WebSocketPeer otherPeer = new WebSocketPeer()) {
      Told other = new Told();
      transport.connect(otherPeer.url(), TIMEOUT, other);
      otherPeer.accept();
      otherPeer.upgrade("Sec-WebSocket-Protocol: proto\r\n");
      other.open();
      otherPeer.write(0x82, 1, 9);
      assertThat(other.calls.poll(60, TimeUnit.SECONDS)).isEqualTo("message [9]");
    }
    assertThat(told.calls).isEmpty();
    assertThat(written).isNotDone();
    told.pauses = false;
    channel.resumeReading();
    assertThat(written.get(60, TimeUnit.SECONDS)).isEqualTo(2_000L);
  }

  @Test
  void anAnswerThatIsNoUpgradeIsAFailure() throws Exception {
    transport.connect(peer.url(), TIMEOUT, told);
    peer.accept();
    peer.writeText("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
    assertThatThrownBy(told::open).hasMessageContaining("503");
  }

  @Test
  void theUpgradeDoesNotLookLikeThatOfAPage() throws Exception {
    transport.connect(peer.url(), TIMEOUT, told);
    peer.accept();
    assertThat(peer.head())
        .isNotEmpty()
        .noneMatch(line -> line.toLowerCase(Locale.ROOT).startsWith("origin:"));
  }

  @Test
  void anotherSubProtocolIsAFailure() throws Exception {
    transport.connect(peer.url(), TIMEOUT, told);
    peer.accept();
    peer.upgrade("");
    assertThatThrownBy(told::open).hasMessageContaining("sub-protocol");
  }

  @Test
  void aWrongProofOfTheServerIsAFailure() throws Exception {
    transport.connect(peer.url(), TIMEOUT, told);
    peer.accept();
    peer.upgradeWithProof("bm90IHRoZSByaWdodCBvbmU=");
    assertThatThrownBy(told::open).hasMessageContaining("upgrade");
  }

  @Test
  void aHeadWithoutEndIsAFailure() throws Exception {
    transport.connect(peer.url(), TIMEOUT, told);
    peer.accept();
    peer.writeText("HTTP/1.1 101 Switching Protocols\r\nX: " + "x".repeat(20_000));
    assertThatThrownBy(told::open).hasMessageContaining("HTTP head");
  }

  @Test
  void anAttemptCanBeCancelled() throws Exception {
    Transport.Attempt attempt = transport.connect(peer.url(), TIMEOUT, told);
    peer.accept();
    attempt.cancel();
    assertThatThrownBy(told::open).hasMessageContaining("given up");
    assertThat(peer.isEnded()).isTrue();
  }

  @Test
  void aRefusedConnectionIsAFailure() throws Exception {
    URI url = peer.url();
    peer.close();
    transport.connect(url, TIMEOUT, told);
    assertThatThrownBy(told::open).rootCause().isInstanceOf(IOException.class);
  }

  private static TransportProvider.Settings settings() {
    return new TransportProvider.Settings("proto", 64 * 1024, null);
  }

  @Test
  void allAddressesOfANameAreTried() throws Exception {
    InetAddress nobody = InetAddress.getByName("127.0.0.9");
    TyrusTransport resolving =
        new TyrusTransport(
            settings(), host -> new InetAddress[] {nobody, InetAddress.getLoopbackAddress()});
    try {
      resolving.connect(
          URI.create("ws://buses.test:" + peer.url().getPort() + "/bus"), TIMEOUT, told);
      peer.accept();
      peer.upgrade("Sec-WebSocket-Protocol: proto\r\n");
      told.open();
      peer.write(0x82, 1, 1);
      assertThat(next()).isEqualTo("message [1]");
    } finally {
      resolving.close();
    }
  }

  @Test
  void namesAllAddressesWhenNoneAnswers() throws Exception {
    URI url = peer.url();
    peer.close();
    TyrusTransport resolving =
        new TyrusTransport(
            settings(),
            host ->
                new InetAddress[] {
                  InetAddress.getByName("127.0.0.9"), InetAddress.getByName("127.0.0.8")
                });
    try {
      resolving.connect(URI.create("ws://buses.test:" + url.getPort() + "/bus"), TIMEOUT, told);
      assertThatThrownBy(told::open)
          .hasMessageContaining("127.0.0.9, 127.0.0.8")
          .hasMessageContaining("is a bus running at buses.test:" + url.getPort());
    } finally {
      resolving.close();
    }
  }

  /** Connects to an address whose system accepts no connection, silently. */
  @Test
  void anAddressThatDoesNotAnswerGetsAShareOfTheTime() throws Exception {
    InetAddress mute = InetAddress.getByName("127.0.0.9");
    List<Socket> full = new ArrayList<>();
    try (ServerSocket server = new ServerSocket(peer.url().getPort(), 1, mute)) {
      boolean takes = true;
      while (takes && full.size() < 100) {
        Socket socket = new Socket();
        full.add(socket);
        try {
          socket.connect(server.getLocalSocketAddress(), 200);
        } catch (SocketTimeoutException e) {
          takes = false;
        }
      }
      assertThat(takes).isFalse();
      TyrusTransport resolving =
          new TyrusTransport(
              settings(), host -> new InetAddress[] {mute, InetAddress.getLoopbackAddress()});
      try {
        resolving.connect(
            URI.create("ws://buses.test:" + peer.url().getPort() + "/bus"),
            Duration.ofSeconds(2),
            told);
        peer.accept();
        peer.upgrade("Sec-WebSocket-Protocol: proto\r\n");
        told.open();
      } finally {
        resolving.close();
      }
    } finally {
      for (Socket socket : full) {
        socket.close();
      }
    }
  }

  @Test
  void theProxyOfTheJdkIsUsed() throws Exception {
    ProxySelector before = ProxySelector.getDefault();
    ProxySelector.setDefault(
        new ProxySelector() {
          @Override
          public List<Proxy> select(URI uri) {
            return List.of(
                new Proxy(
                    Proxy.Type.HTTP,
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), peer.url().getPort())));
          }

          @Override
          public void connectFailed(URI uri, SocketAddress address, IOException failure) {}
        });
    try {
      transport.connect(URI.create("ws://bus.invalid:1234/bus"), TIMEOUT, told);
      peer.accept();
      assertThat(peer.head().get(0)).isEqualTo("CONNECT bus.invalid:1234 HTTP/1.1");
      peer.writeText("HTTP/1.1 200 OK\r\n\r\n");
      peer.upgrade("Sec-WebSocket-Protocol: proto\r\n");
      told.open();
      peer.write(0x82, 1, 1);
      assertThat(next()).isEqualTo("message [1]");
    } finally {
      ProxySelector.setDefault(before);
    }
  }
}
