package io.eventbus.loadtest.run;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.IdleHandshake;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Connection that only says hello: the upgrade, the greeting, the server's answer, and then nothing
 * but answers to WebSocket pings.
 *
 * <p>Masks with zeros, which RFC 6455 lets a client do as any other mask; nothing here is secret.
 * Messages of a server are small, so one that is larger than the buffer is an error. Confined to
 * the thread of {@link IdleConnections}.
 */
final class IdleConnection {
  private static final int MASKED = 0x80;
  private static final int FINAL_BINARY = 0x82;
  private static final int FINAL_PONG = 0x8A;
  private static final int OPCODE = 0x0F;
  private static final int CLOSE = 8;
  private static final int PING = 9;
  private static final int MAX_MESSAGE_BYTES = 64 * 1024;
  private static final String HEAD_END = "\r\n\r\n";

  private final IdleHandshake handshake;
  private final int number;
  private final SocketChannel channel;
  private @Nullable ByteBuffer answer;
  private boolean upgraded;
  private boolean ready;

  IdleConnection(IdleHandshake handshake, int number) throws IOException {
    this.handshake = handshake;
    this.number = number;
    this.channel = SocketChannel.open();
    channel.configureBlocking(false);
    channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), handshake.port()));
  }

  SocketChannel channel() {
    return channel;
  }

  boolean ready() {
    return ready;
  }

  /** Called when the channel is connected: sends the first bytes. */
  void connected() throws IOException {
    if (!channel.finishConnect()) {
      return;
    }
    if (handshake.path().isEmpty()) {
      upgraded = true;
      write(handshake.greeting(number));
      return;
    }
    String protocol =
        handshake.subprotocol().isEmpty()
            ? ""
            : "Sec-WebSocket-Protocol: " + handshake.subprotocol() + "\r\n";
    String request =
        "GET "
            + handshake.path()
            + " HTTP/1.1\r\nHost: 127.0.0.1:"
            + handshake.port()
            + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            + protocol
            + "\r\n";
    write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
  }

  /** Called when there is something to read. */
  boolean read(ByteBuffer in) throws IOException {
    in.clear();
    ByteBuffer rest = answer;
    if (rest != null) {
      in.put(rest);
      answer = null;
    }
    if (channel.read(in) < 0) {
      return false;
    }
    in.flip();
    if (!upgraded && !upgrade(in)) {
      keep(in);
      return true;
    }
    if (ready && handshake.path().isEmpty()) {
      return true;
    }
    if (handshake.path().isEmpty()) {
      ready = handshake.answer().complete(in);
      keep(in);
      return true;
    }
    return frames(in);
  }

  private boolean upgrade(ByteBuffer in) throws IOException {
    String text = StandardCharsets.ISO_8859_1.decode(in.duplicate()).toString();
    int end = text.indexOf(HEAD_END);
    if (end < 0) {
      return false;
    }
    if (!text.startsWith("HTTP/1.1 101 ")) {
      throw new DriverException("no upgrade: " + text.lines().findFirst().orElse(""));
    }
    upgraded = true;
    in.position(in.position() + end + HEAD_END.length());
    write(frame(FINAL_BINARY, handshake.greeting(number)));
    return true;
  }

  /** Takes whole frames from the buffer and keeps what is left. */
  private boolean frames(ByteBuffer in) throws IOException {
    ByteBuffer payloads = ByteBuffer.allocate(in.remaining());
    int start = in.position();
    while (in.remaining() >= 2) {
      int opcode = in.get(in.position()) & OPCODE;
      int length = in.get(in.position() + 1) & 0x7F;
      int head = 2;
      if (length == 126) {
        if (in.remaining() < 4) {
          break;
        }
        length = in.getShort(in.position() + 2) & 0xFFFF;
        head = 4;
      } else if (length == 127) {
        throw new DriverException("a frame of more than 64 KiB on an idle connection");
      }
      if (in.remaining() < head + length) {
        break;
      }
      ByteBuffer payload = in.slice(in.position() + head, length);
      in.position(in.position() + head + length);
      if (opcode == CLOSE) {
        return false;
      }
      if (opcode == PING) {
        write(frame(FINAL_PONG, payload));
      } else {
        payloads.put(payload);
      }
    }
    if (!ready) {
      ready = handshake.answer().complete(payloads.flip());
      if (!ready) {
        // Not yet the answer: it may come in pieces.
        in.position(start);
      }
    }
    keep(in);
    return true;
  }

  private void keep(ByteBuffer in) {
    if (in.hasRemaining() && !(ready && handshake.path().isEmpty())) {
      if (in.remaining() > MAX_MESSAGE_BYTES / 2) {
        throw new DriverException(in.remaining() + " bytes and no answer in them");
      }
      answer = ByteBuffer.allocate(in.remaining()).put(in).flip();
    }
  }

  private static ByteBuffer frame(int first, ByteBuffer payload) {
    int length = payload.remaining();
    ByteBuffer out = ByteBuffer.allocate(length + 8).put((byte) first);
    if (length < 126) {
      out.put((byte) (MASKED | length));
    } else {
      out.put((byte) (MASKED | 126)).putShort((short) length);
    }
    return out.putInt(0).put(payload).flip();
  }

  private void write(ByteBuffer bytes) throws IOException {
    channel.write(bytes);
    if (bytes.hasRemaining()) {
      // A new connection's buffer holds far more than this.
      throw new DriverException("the first " + bytes.limit() + " bytes were not taken at once");
    }
  }

  static ByteBuffer readBuffer() {
    return ByteBuffer.allocateDirect(MAX_MESSAGE_BYTES);
  }
}
