package io.eventbus.server.transport.websocket;

import io.netty.buffer.ByteBuf;

/**
 * Check that bytes which come in pieces are UTF-8 (RFC 3629): a piece may end inside a character,
 * the last one may not.
 */
public final class Utf8Stream {
  private int missing;
  private int low = 0x80;
  private int high = 0xBF;

  /** Returns false as soon as the bytes so far cannot be the start of valid UTF-8. */
  public boolean accept(ByteBuf buf, int from, int length) {
    for (int i = from; i < from + length; i++) {
      int b = buf.getUnsignedByte(i);
      if (missing > 0) {
        if (b < low || b > high) {
          return false;
        }
        missing--;
        low = 0x80;
        high = 0xBF;
      } else if (b >= 0x80 && !lead(b)) {
        return false;
      }
    }
    return true;
  }

  /** Reads a first byte (table 3-7 of the Unicode standard) and sets what may follow it. */
  private boolean lead(int b) {
    if (b < 0xC2 || b > 0xF4) {
      return false;
    }
    missing = b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3;
    low = b == 0xE0 ? 0xA0 : b == 0xF0 ? 0x90 : 0x80;
    high = b == 0xED ? 0x9F : b == 0xF4 ? 0x8F : 0xBF;
    return true;
  }

  /** Returns whether no character is left unfinished, and starts again. */
  public boolean finish() {
    boolean complete = missing == 0;
    missing = 0;
    low = 0x80;
    high = 0xBF;
    return complete;
  }
}
