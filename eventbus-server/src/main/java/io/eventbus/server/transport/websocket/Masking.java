package io.eventbus.server.transport.websocket;

import io.netty.buffer.ByteBuf;

/** Removal of the mask from a payload in place (RFC 6455, section 5.3), eight bytes at a time. */
public final class Masking {
  private Masking() {}

  public static void unmask(ByteBuf buf, int from, int length, int mask) {
    if (mask == 0) {
      return;
    }
    long wide = ((long) mask << 32) | (mask & 0xFFFFFFFFL);
    int i = from;
    int end = from + length;
    for (; i + 8 <= end; i += 8) {
      buf.setLong(i, buf.getLong(i) ^ wide);
    }
    for (int k = 0; i < end; i++, k++) {
      buf.setByte(i, buf.getByte(i) ^ (mask >>> (24 - 8 * (k & 3))));
    }
  }
}
