package io.eventbus.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Check and decoder of UTF-8 (RFC 3629) in place: no surrogates, no overlong forms, nothing above
 * U+10FFFF.
 */
public final class Utf8 {
  private static final long HIGH_BITS = 0x8080808080808080L;

  private Utf8() {}

  /**
   * Returns whether a range of a buffer is UTF-8.
   *
   * @param buf the buffer
   * @param from the index of the first byte
   * @param to the index after the last byte
   * @return true if it is, also if the range is empty
   */
  public static boolean isValid(ByteBuffer buf, int from, int to) {
    int i = from;
    while (i < to) {
      if (i + 8 <= to && (buf.getLong(i) & HIGH_BITS) == 0) {
        i += 8;
        continue;
      }
      int b = buf.get(i);
      if (b >= 0) {
        i++;
        continue;
      }
      int length = sequenceLength(buf, i, to, b & 0xFF);
      if (length == 0) {
        return false;
      }
      i += length;
    }
    return true;
  }

  /**
   * Returns the length of the multi-byte sequence at i, or 0 for a broken one: table 3-7 of the
   * Unicode standard.
   */
  private static int sequenceLength(ByteBuffer buf, int i, int to, int lead) {
    if (lead < 0xC2 || lead > 0xF4) {
      return 0;
    }
    int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (i + length > to) {
      return 0;
    }
    int second = buf.get(i + 1) & 0xFF;
    int low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    int high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (second < low || second > high) {
      return 0;
    }
    for (int k = 2; k < length; k++) {
      if ((buf.get(i + k) & 0xC0) != 0x80) {
        return 0;
      }
    }
    return length;
  }

  static String decode(ByteBuffer buf, int from, int to) {
    byte[] bytes = new byte[to - from];
    buf.get(from, bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
