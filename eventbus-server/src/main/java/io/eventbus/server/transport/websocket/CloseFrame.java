package io.eventbus.server.transport.websocket;

import io.eventbus.protocol.CloseReason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;

/** Body of a Close frame (RFC 6455, sections 5.5.1 and 7.4). */
public final class CloseFrame {
  private static final int NO_CODE = 1005;

  private CloseFrame() {}

  public static ByteBuf encode(ByteBufAllocator allocator, int code, String reason) {
    byte[] text = CloseReason.fit(reason).getBytes(StandardCharsets.UTF_8);
    ByteBuf frame = allocator.directBuffer(4 + text.length);
    frame.writeByte(0x80 | Opcode.CLOSE);
    if (code == NO_CODE) {
      return frame.writeByte(0);
    }
    return frame.writeByte(2 + text.length).writeShort(code).writeBytes(text);
  }

  /** Returns the code that a client sent, or 1005 for none, after checking the body. */
  public static int check(ByteBuf body) throws WebSocketViolation {
    int length = body.readableBytes();
    if (length == 0) {
      return NO_CODE;
    }
    if (length == 1) {
      throw new WebSocketViolation(
          CloseReason.PROTOCOL_ERROR, "a Close with one byte (expected: none, or a code)");
    }
    int code = body.getUnsignedShort(body.readerIndex());
    if (!mayBeSent(code)) {
      throw new WebSocketViolation(
          CloseReason.PROTOCOL_ERROR,
          "a Close with code " + code + " (expected: one that RFC 6455 lets be sent)");
    }
    Utf8Stream utf8 = new Utf8Stream();
    if (!utf8.accept(body, body.readerIndex() + 2, length - 2) || !utf8.finish()) {
      throw new WebSocketViolation(CloseReason.MALFORMED, "a Close whose reason is not UTF-8");
    }
    return code;
  }

  private static boolean mayBeSent(int code) {
    return (code >= 1000 && code <= 1003)
        || (code >= 1007 && code <= 1014)
        || (code >= 3000 && code <= 4999);
  }
}
