package io.eventbus.server.transport;

import io.eventbus.server.transport.websocket.Opcode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/** WebSocket frames as a client sends them. */
final class ClientBytes {
  static final int FIN = 0x80;
  static final int RSV1 = 0x40;

  private final ByteBuf bytes = Unpooled.buffer();

  /** Adds a masked frame in the shortest form. */
  ClientBytes frame(int first, byte[] payload, int mask) {
    bytes.writeByte(first);
    if (payload.length < 126) {
      bytes.writeByte(0x80 | payload.length);
    } else if (payload.length < 65_536) {
      bytes.writeByte(0x80 | 126).writeShort(payload.length);
    } else {
      bytes.writeByte(0x80 | 127).writeLong(payload.length);
    }
    bytes.writeInt(mask);
    for (int i = 0; i < payload.length; i++) {
      bytes.writeByte(payload[i] ^ (mask >>> (24 - 8 * (i % 4))));
    }
    return this;
  }

  ClientBytes binary(byte[] payload) {
    return frame(FIN | Opcode.BINARY, payload, 0x12345678);
  }

  ClientBytes text(String payload) {
    return frame(FIN | Opcode.TEXT, payload.getBytes(StandardCharsets.UTF_8), 0x9ABCDEF0);
  }

  ClientBytes close(int code, String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    byte[] body = Unpooled.buffer().writeShort(code).writeBytes(text).array();
    return frame(FIN | Opcode.CLOSE, java.util.Arrays.copyOf(body, 2 + text.length), 1);
  }

  /** Adds a header alone, with any length. */
  ClientBytes header(int first, long length) {
    bytes.writeByte(first).writeByte(0x80 | 127).writeLong(length).writeInt(7);
    return this;
  }

  byte[] array() {
    byte[] all = new byte[bytes.readableBytes()];
    bytes.getBytes(bytes.readerIndex(), all);
    return all;
  }
}
