package io.eventbus.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Headers of an event in Avro's encoding, ready to be written; immutable, so that any thread may
 * use it.
 */
public final class EncodedHeaders {
  /** Value without headers: one byte on the wire. */
  public static final EncodedHeaders NONE = new EncodedHeaders(new byte[] {0}, 0, 0);

  private final byte[] encoded;
  private final int count;
  private final int textBytes;

  private EncodedHeaders(byte[] encoded, int count, int textBytes) {
    this.encoded = encoded;
    this.count = count;
    this.textBytes = textBytes;
  }

  /**
   * Encodes headers.
   *
   * @param headers names and values, any number and size: check {@link #count} and {@link
   *     #textBytes} against the limits
   * @return the encoded form
   */
  public static EncodedHeaders of(Map<String, String> headers) {
    if (headers.isEmpty()) {
      return NONE;
    }
    byte[][] texts = new byte[headers.size() * 2][];
    int i = 0;
    int textBytes = 0;
    int items = 0;
    for (Map.Entry<String, String> header : headers.entrySet()) {
      texts[i++] = header.getKey().getBytes(StandardCharsets.UTF_8);
      texts[i++] = header.getValue().getBytes(StandardCharsets.UTF_8);
    }
    for (byte[] text : texts) {
      textBytes = Math.addExact(textBytes, text.length);
      items = Math.addExact(items, Varint.size(text.length) + text.length);
    }
    int size = Varint.size(-(long) headers.size()) + Varint.size(items) + items + 1;
    ByteBuffer out = ByteBuffer.allocate(size);
    Varint.write(out, -(long) headers.size());
    Varint.write(out, items);
    for (byte[] text : texts) {
      Varint.write(out, text.length);
      out.put(text);
    }
    out.put((byte) 0);
    return new EncodedHeaders(out.array(), headers.size(), textBytes);
  }

  /**
   * Returns the number of headers.
   *
   * @return 0 or more
   */
  public int count() {
    return count;
  }

  /**
   * Returns the size of all names and values, which the protocol limits.
   *
   * @return bytes of UTF-8
   */
  public int textBytes() {
    return textBytes;
  }

  /**
   * Returns the size on the wire.
   *
   * @return bytes, at least 1
   */
  public int size() {
    return encoded.length;
  }

  void write(ByteBuffer out) {
    out.put(encoded);
  }
}
