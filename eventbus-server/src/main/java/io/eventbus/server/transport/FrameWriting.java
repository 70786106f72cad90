package io.eventbus.server.transport;

import io.netty.buffer.ByteBuf;

/** The header of a frame from a bus, which is never masked (RFC 6455, section 5.2). */
final class FrameWriting {
  static final int MAX_HEADER_BYTES = 10;

  private FrameWriting() {}

  static void writeHeader(ByteBuf out, boolean compressed, int opcode, int length) {
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
