package io.eventbus.protocol;

import java.nio.ByteBuffer;

/** Writer of Avro's integers: zig-zag, then seven bits a byte, the low ones first. */
public final class Varint {
  /** Maximum number of bytes of an integer of 64 bits. */
  public static final int MAX_BYTES = 10;

  /** Maximum number of bytes of an integer of 32 bits. */
  static final int MAX_INT_BYTES = 5;

  private Varint() {}

  /**
   * Measures an integer.
   *
   * @param value the integer
   * @return 1 to {@link #MAX_BYTES}
   */
  public static int size(long value) {
    long zigzag = (value << 1) ^ (value >> 63);
    int bits = 64 - Long.numberOfLeadingZeros(zigzag | 1);
    return (bits + 6) / 7;
  }

  /**
   * Writes an integer.
   *
   * @param out has room for it at its position
   * @param value the integer
   */
  public static void write(ByteBuffer out, long value) {
    long n = (value << 1) ^ (value >> 63);
    while ((n & ~0x7FL) != 0) {
      out.put((byte) (n | 0x80));
      n >>>= 7;
    }
    out.put((byte) n);
  }
}
