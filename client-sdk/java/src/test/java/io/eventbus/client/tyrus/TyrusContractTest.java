package io.eventbus.client.tyrus;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.base.TransportContract;
import io.eventbus.client.internal.base.TransportProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The transport that clients use. */
class TyrusContractTest extends TransportContract {
  private static final int BINARY = 0x82;
  private static final int CLOSE = 0x88;
  private static final int PING = 0x89;
  private static final int PONG = 0x8A;

  private final Transport transport =
      new TyrusTransportProvider().create(new TransportProvider.Settings("proto", 64 * 1024, null));
  private WebSocketPeer peer;

  @BeforeEach
  void listen() throws IOException {
    peer = new WebSocketPeer();
  }

  @AfterEach
  void close() throws IOException {
    transport.close();
    peer.close();
  }

  @Override
  protected Transport transport() {
    return transport;
  }

  @Override
  protected URI url() {
    return peer.url();
  }

  @Override
  protected URI deadUrl() throws IOException {
    try (ServerSocket gone = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return URI.create("ws://127.0.0.1:" + gone.getLocalPort() + "/");
    }
  }

  @Override
  protected Peer accept() throws Exception {
    peer.accept();
    peer.upgrade("Sec-WebSocket-Protocol: proto\r\n");
    return new Socket();
  }

  private final class Socket implements Peer {
    private void write(int opcode, byte[] payload) throws IOException {
      int[] frame = new int[2 + payload.length];
      frame[0] = opcode;
      frame[1] = payload.length;
      for (int i = 0; i < payload.length; i++) {
        frame[2 + i] = payload[i] & 0xFF;
      }
      peer.write(frame);
    }

    @Override
    public void say(byte[] message) throws IOException {
      write(BINARY, message);
    }

    @Override
    public byte[] hear() throws IOException {
      int[] frame = peer.readFrame();
      assertThat(frame[0]).isEqualTo(BINARY);
      byte[] payload = new byte[frame.length - 1];
      for (int i = 0; i < payload.length; i++) {
        payload[i] = (byte) frame[1 + i];
      }
      return payload;
    }

    @Override
    public void pong() throws IOException {
      assertThat(peer.readFrame()[0]).isEqualTo(PING);
      write(PONG, new byte[0]);
    }

    @Override
    public void close(int code, String reason) throws IOException {
      byte[] text = reason.getBytes(StandardCharsets.UTF_8);
      byte[] payload = new byte[2 + text.length];
      payload[0] = (byte) (code >> 8);
      payload[1] = (byte) code;
      System.arraycopy(text, 0, payload, 2, text.length);
      write(CLOSE, payload);
    }

    @Override
    public int heardClose() throws IOException {
      int[] frame = peer.readFrame();
      assertThat(frame[0]).isEqualTo(CLOSE);
      return frame[1] << 8 | frame[2];
    }
  }
}
