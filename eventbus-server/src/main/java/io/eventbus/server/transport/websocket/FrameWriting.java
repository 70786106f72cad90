package io.eventbus.server.transport.websocket;

import io.eventbus.server.delivery.Delivery;
import io.netty.buffer.ByteBuf;

/** Header of a frame from a bus, which is never masked (RFC 6455, section 5.2). */
public final class FrameWriting {
  public static final int MAX_HEADER_BYTES = 10;

  private FrameWriting() {}

  /**
   * Creates a binary message of one delivery, without a copy of it. The header goes into the room
   * in front of the frame; it is the same for every subscriber, as a bus does not mask.
   */
  public static ByteBuf message(Delivery delivery) {
    int bytes = delivery.frameBytes();
    ByteBuf message = delivery.slice(headerBytes(bytes));
    int end = message.writerIndex();
    message.writerIndex(0);
    writeHeader(message, false, Opcode.BINARY, bytes);
    return message.writerIndex(end);
  }

  private static int headerBytes(int length) {
    return length < 126 ? 2 : length < 65_536 ? 4 : MAX_HEADER_BYTES;
  }

  public static void writeHeader(ByteBuf out, boolean compressed, int opcode, int length) {
    out.writeByte(0x80 | (compressed ? 0x40 : 0) | opcode);
    if (length < 126) {
      out.writeByte(length);
    } else if (length < 65_536) {
      out.writeByte(126).writeShort(length);
    } else {
      out.writeByte(127).writeLong(length);
    }
  }
}
