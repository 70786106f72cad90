package io.eventbus.conformance.frame;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Writer of Avro's primitives; for one thread. */
public final class Bytes {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  /** Begins with no bytes. */
  public Bytes() {}

  /** Writes an {@code int} or a {@code long}. */
  public Bytes number(long value) {
    long rest = (value << 1) ^ (value >> 63);
    while ((rest & ~0x7FL) != 0) {
      out.write((int) ((rest & 0x7F) | 0x80));
      rest >>>= 7;
    }
    out.write((int) rest);
    return this;
  }

  /**
   * Writes {@code bytes}: the length and the bytes.
   *
   * @param value the bytes
   */
  public Bytes sized(byte[] value) {
    return number(value.length).raw(value);
  }

  /** Writes a {@code string}. */
  public Bytes text(String text) {
    return sized(text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Writes bytes as they are.
   *
   * @param value the bytes
   */
  public Bytes raw(byte[] value) {
    out.writeBytes(value);
    return this;
  }

  /**
   * Writes bytes as they are.
   *
   * @param values each from 0 to 255
   */
  public Bytes raw(int... values) {
    for (int value : values) {
      out.write(value);
    }
    return this;
  }

  /** Puts a frame around bytes. */
  public static byte[] frame(int typeCode, byte[] body) {
    return new Bytes().number(typeCode).sized(body).toArray();
  }

  /** Returns what was written. */
  public byte[] toArray() {
    return out.toByteArray();
  }
}
