package io.eventbus.client.tyrus;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.internal.Transport;
import io.eventbus.client.internal.TransportProvider;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The adapter against a socket of the test's own, which can do what no WebSocket server does. */
@Timeout(60)
class TyrusTransportTest {
  private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

  private final Told told = new Told();
  private final Transport transport =
      new TyrusTransportProvider().create(new TransportProvider.Settings("proto", 64 * 1024, null));
  private ServerSocket server;
  private Socket peer;
  private DataInputStream in;
  private Transport.Channel channel;

  private static final class Told implements Transport.Listener {
    final CompletableFuture<Transport.Channel> channel = new CompletableFuture<>();
    final BlockingQueue<String> calls = new LinkedBlockingQueue<>();

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
      calls.add("message");
    }

    @Override
    public void onPong() {
      calls.add("pong");
    }

    @Override
    public void onClosed(int code, String reason) {
      calls.add("closed " + code);
    }
  }

  @BeforeEach
  void connect() throws Exception {
    server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    server.setSoTimeout(10_000);
    transport.connect(URI.create("ws://localhost:" + server.getLocalPort() + "/bus"), told);
    peer = server.accept();
    peer.setSoTimeout(10_000);
    in = new DataInputStream(peer.getInputStream());
    String key = "";
    for (String line = line(); !line.isEmpty(); line = line()) {
      if (line.toLowerCase(java.util.Locale.ROOT).startsWith("sec-websocket-key:")) {
        key = line.substring(line.indexOf(':') + 1).trim();
      }
    }
    byte[] hash =
        MessageDigest.getInstance("SHA-1").digest((key + GUID).getBytes(StandardCharsets.US_ASCII));
    write(
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Protocol: proto\r\nSec-WebSocket-Accept: "
                + Base64.getEncoder().encodeToString(hash)
                + "\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII));
    channel = told.channel.get(10, TimeUnit.SECONDS);
  }

  @AfterEach
  void close() throws IOException {
    transport.close();
    peer.close();
    server.close();
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.readUnsignedByte(); c != '\n'; c = in.readUnsignedByte()) {
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  private void write(byte... bytes) throws IOException {
    peer.getOutputStream().write(bytes);
  }

  private String next() throws InterruptedException {
    return String.valueOf(told.calls.poll(10, TimeUnit.SECONDS));
  }

  @Test
  void aPingGoesOutAndItsPongIsTold() throws Exception {
    channel.ping();
    assertThat(in.readUnsignedByte()).isEqualTo(0x89);
    write((byte) 0x8A, (byte) 0);
    assertThat(next()).isEqualTo("pong");
  }

  @Test
  void aConnectionThatIsResetHasCode1006() throws Exception {
    peer.setSoLinger(true, 0);
    peer.close();
    assertThat(next()).isEqualTo("closed 1006");
  }

  @Test
  void aConnectionThatThisSideAbortsHasCode1006() throws Exception {
    channel.abort();
    assertThat(next()).isEqualTo("closed 1006");
  }

  @Test
  void aCloseFrameKeepsItsCode() throws Exception {
    write((byte) 0x88, (byte) 2, (byte) (1001 >> 8), (byte) 1001);
    assertThat(next()).isEqualTo("closed 1001");
  }
}
