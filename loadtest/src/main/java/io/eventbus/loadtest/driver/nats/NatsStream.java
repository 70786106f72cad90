package io.eventbus.loadtest.driver.nats;

import io.eventbus.loadtest.driver.Driver;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/**
 * Subscriber's end of NATS over WebSocket: takes the messages out of the frames, and NATS's {@code
 * MSG} out of the messages. For one thread at a time.
 *
 * @see <a href="https://docs.nats.io/reference/reference-protocols/nats-protocol">the protocol</a>
 */
final class NatsStream {
  private static final int MAX_FRAME_BYTES = 4 * 1024 * 1024;
  private static final int OPCODE = 0x0F;
  private static final int CLOSE = 8;
  private static final int MAX_HEAD = 10;
  private static final byte[] PONG = "PONG\r\n".getBytes(StandardCharsets.US_ASCII);

  private final SocketChannel channel;
  private final Driver.Receiver receiver;
  private final ByteBuffer head = ByteBuffer.allocate(MAX_HEAD);
  private ByteBuffer text = ByteBuffer.allocate(64 * 1024);
  private ByteBuffer view = text.duplicate();
  private long frameLeft;
  private int pongs;

  NatsStream(SocketChannel channel, Driver.Receiver receiver) {
    this.channel = channel;
    this.receiver = receiver;
  }

  /** Returns how many answers to a ping have come. */
  int pongs() {
    return pongs;
  }

  /**
   * Takes what was read from the socket.
   *
   * @throws IOException if the server ends the connection or says what is not understood
   */
  void accept(ByteBuffer in) throws IOException {
    while (in.hasRemaining()) {
      if (frameLeft == 0 && !frameHead(in)) {
        return;
      }
      int length = (int) Math.min(frameLeft, in.remaining());
      if (text.remaining() < length) {
        parse();
        makeRoom(length);
      }
      text.put(text.position(), in, in.position(), length);
      text.position(text.position() + length);
      in.position(in.position() + length);
      frameLeft -= length;
    }
    parse();
  }

  /** Reads the head of a frame, which may come in pieces; a server does not mask. */
  private boolean frameHead(ByteBuffer in) throws IOException {
    while (in.hasRemaining()) {
      head.put(in.get());
      int code = head.position() < 2 ? 0 : head.get(1) & 0x7F;
      int size = code == 126 ? 4 : code == 127 ? MAX_HEAD : 2;
      if (head.position() == size) {
        if ((head.get(0) & OPCODE) == CLOSE) {
          throw new IOException("the server has closed the connection");
        }
        frameLeft = code == 126 ? head.getShort(2) & 0xFFFF : code == 127 ? head.getLong(2) : code;
        head.clear();
        if (frameLeft > 0) {
          return true;
        }
      }
    }
    return false;
  }

  private void makeRoom(int length) throws IOException {
    int used = text.position();
    if (used + length <= text.capacity()) {
      return;
    }
    if (used + length > MAX_FRAME_BYTES) {
      throw new IOException("a message of more than " + MAX_FRAME_BYTES + " bytes");
    }
    ByteBuffer larger = ByteBuffer.allocate(2 * (used + length));
    text.flip();
    text = larger.put(text);
    view = text.duplicate();
  }

  /** Hands on every message that is there, and keeps the rest at the front of the buffer. */
  private void parse() throws IOException {
    int end = text.position();
    int at = 0;
    for (int line = lineEnd(at, end); line >= 0; line = lineEnd(at, end)) {
      int next = line + 2;
      byte first = text.get(at);
      if (first == 'M') {
        int bytes = lastNumber(at, line);
        if (end < next + bytes + 2) {
          break;
        }
        receiver.onEvent(view.limit(next + bytes).position(next));
        next += bytes + 2;
      } else if (first == 'P' && text.get(at + 1) == 'I') {
        channel.write(masked(ByteBuffer.wrap(PONG)));
      } else if (first == 'P') {
        pongs++;
      } else if (first == '-') {
        throw new IOException("the server said: " + line(at, line));
      }
      at = next;
    }
    if (at > 0) {
      text.limit(end).position(at);
      text.compact();
    }
  }

  private int lineEnd(int from, int end) {
    byte[] bytes = text.array();
    for (int i = from; i < end - 1; i++) {
      if (bytes[i] == '\r') {
        return i;
      }
    }
    return -1;
  }

  private int lastNumber(int from, int to) {
    int digit = 1;
    int number = 0;
    for (int i = to - 1; i > from && text.get(i) != ' '; i--) {
      number += (text.get(i) - '0') * digit;
      digit *= 10;
    }
    return number;
  }

  private String line(int from, int to) {
    return new String(text.array(), from, to - from, StandardCharsets.US_ASCII);
  }

  /** Makes a binary message of a client, masked with zeros; short ones only. */
  static ByteBuffer masked(ByteBuffer payload) {
    int length = payload.remaining();
    ByteBuffer out = ByteBuffer.allocate(length + 8).put((byte) 0x82);
    if (length < 126) {
      out.put((byte) (0x80 | length));
    } else {
      out.put((byte) (0x80 | 126)).putShort((short) length);
    }
    return out.putInt(0).put(payload).flip();
  }
}
