package io.eventbus.server.transport.websocket;

import io.eventbus.protocol.CloseReason;
import io.netty.buffer.ByteBuf;

/**
 * Header of a WebSocket frame from a client, and the rules of RFC 6455, sections 5.2 to 5.5, that
 * can be checked with it alone. Reused; confined to its connection's loop.
 */
public final class FrameHeader {
  /** Length of the longest header: two bytes, eight of length, four of mask. */
  public static final int MAX_BYTES = 14;

  public boolean fin;
  public boolean compressed;
  public int opcode;
  public long length;
  public int mask;
  public int headerBytes;

  /**
   * Reads a header without moving the reader index.
   *
   * @return false if there are not enough bytes yet
   */
  public boolean read(ByteBuf in, boolean deflateNegotiated) throws WebSocketViolation {
    int available = in.readableBytes();
    if (available < 2) {
      return false;
    }
    int at = in.readerIndex();
    int first = in.getUnsignedByte(at);
    int second = in.getUnsignedByte(at + 1);
    fin = (first & 0x80) != 0;
    opcode = first & 0x0F;
    checkFirst(first, deflateNegotiated);
    if ((second & 0x80) == 0) {
      throw protocol("a frame without a mask (expected: clients mask every frame)");
    }
    int length7 = second & 0x7F;
    if (Opcode.isControl(opcode) && (length7 > 125 || !fin)) {
      throw protocol(
          "a fragmented or long control frame (expected: one frame of at most 125 bytes)");
    }
    headerBytes = length7 < 126 ? 6 : length7 == 126 ? 8 : MAX_BYTES;
    if (available < headerBytes) {
      return false;
    }
    length = readLength(in, at + 2, length7);
    mask = in.getInt(at + headerBytes - 4);
    return true;
  }

  private void checkFirst(int first, boolean deflateNegotiated) throws WebSocketViolation {
    compressed = (first & 0x40) != 0;
    if ((first & 0x30) != 0
        || (compressed
            && (!deflateNegotiated || Opcode.isControl(opcode) || opcode == Opcode.CONTINUATION))) {
      throw protocol(
          "reserved bits " + ((first >> 4) & 7) + " (expected: none that were not negotiated)");
    }
    if (!Opcode.isKnown(opcode)) {
      throw protocol("opcode " + opcode + " (expected: 0, 1, 2, 8, 9 or 10)");
    }
  }

  private static long readLength(ByteBuf in, int at, int length7) throws WebSocketViolation {
    if (length7 < 126) {
      return length7;
    }
    if (length7 == 126) {
      int length = in.getUnsignedShort(at);
      if (length < 126) {
        throw protocol("a length of " + length + " in 16 bits (expected: the shortest form)");
      }
      return length;
    }
    long length = in.getLong(at);
    if (length < 65_536) {
      throw protocol("a length of " + length + " in 64 bits (expected: 65536 or more)");
    }
    return length;
  }

  private static WebSocketViolation protocol(String message) {
    return new WebSocketViolation(CloseReason.PROTOCOL_ERROR, message);
  }
}
