package io.eventbus.loadtest.attack.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * WebSocket frames of a client, legal or not. The mask is of zeros, which RFC 6455 lets a client
 * choose as any other, so that one buffer can be sent by any number of connections. Stateless.
 */
public final class Octets {
  /** The opcode of a continued message. */
  public static final int CONTINUATION = 0;

  /** The opcode of a binary message. */
  public static final int BINARY = 2;

  /** The opcode of a Close. */
  public static final int CLOSE = 8;

  /** The opcode of a Ping. */
  public static final int PING = 9;

  /** The opcode of a Pong. */
  public static final int PONG = 10;

  /** The bit that ends a message. */
  public static final int FINAL = 0x80;

  /** The bit that says that a message is compressed. */
  public static final int COMPRESSED = 0x40;

  private static final int MASKED = 0x80;
  private static final int SHORT = 126;
  private static final int LONG = 127;
  private static final int MAX_SHORT = 0xFFFF;
  private static final int MAX_HEAD = 14;

  private Octets() {}

  /** Writes a frame's head. */
  public static void head(ByteBuf out, int first, long length) {
    out.writeByte(first);
    if (length < SHORT) {
      out.writeByte(MASKED | (int) length);
    } else if (length <= MAX_SHORT) {
      out.writeByte(MASKED | SHORT).writeShort((int) length);
    } else {
      out.writeByte(MASKED | LONG).writeLong(length);
    }
    out.writeInt(0);
  }

  /** Makes a whole binary message. */
  public static ByteBuf message(byte[]... frames) {
    return frame(FINAL | BINARY, frames);
  }

  /** Creates one frame. */
  public static ByteBuf frame(int first, byte[]... parts) {
    int length = 0;
    for (byte[] part : parts) {
      length += part.length;
    }
    ByteBuf out = Unpooled.directBuffer(length + MAX_HEAD);
    head(out, first, length);
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out;
  }

  /**
   * Makes many copies of one frame.
   *
   * @param bytes the copies take at most so much, but there is one
   */
  public static ByteBuf repeated(ByteBuf frame, int bytes) {
    int times = Math.max(1, bytes / frame.readableBytes());
    ByteBuf out = Unpooled.directBuffer(times * frame.readableBytes());
    for (int i = 0; i < times; i++) {
      out.writeBytes(frame, frame.readerIndex(), frame.readableBytes());
    }
    frame.release();
    return out;
  }
}
