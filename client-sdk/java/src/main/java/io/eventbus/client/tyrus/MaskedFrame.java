package io.eventbus.client.tyrus;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Writer of a binary message as one WebSocket frame, masked as RFC 6455, section 5.3, requires of
 * clients. The masking is the only copy on the way from the batch to the socket.
 */
final class MaskedFrame {
  private static final int FINAL_BINARY = 0x82;
  private static final int MASKED = 0x80;
  private static final int MAX_HEAD_BYTES = 14;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private MaskedFrame() {}

  /** Returns the maximum size of the frame of a message. */
  static int size(int messageBytes) {
    return messageBytes + MAX_HEAD_BYTES;
  }

  /**
   * Writes a frame.
   *
   * @param out its destination; big-endian
   */
  static void write(ByteBuffer out, ByteBuffer message, int key) {
    int length = message.remaining();
    out.put((byte) FINAL_BINARY);
    if (length < 126) {
      out.put((byte) (MASKED | length));
    } else if (length < 65_536) {
      out.put((byte) (MASKED | 126)).putShort((short) length);
    } else {
      out.put((byte) (MASKED | 127)).putLong(length);
    }
    out.putInt(key);
    byte[] array = message.array();
    int from = message.arrayOffset() + message.position();
    int target = out.position();
    long twice = ((long) key << 32) | (key & 0xFFFF_FFFFL);
    int at = 0;
    for (; at <= length - Long.BYTES; at += Long.BYTES) {
      out.putLong(target + at, (long) LONGS.get(array, from + at) ^ twice);
    }
    for (; at < length; at++) {
      out.put(target + at, (byte) (array[from + at] ^ (key >>> (24 - 8 * (at & 3)))));
    }
    out.position(target + length);
  }
}
