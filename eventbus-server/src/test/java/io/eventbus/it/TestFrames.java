package io.eventbus.it;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Avro by hand, so that a test can write what no library would. */
final class TestFrames {
  private TestFrames() {}

  static byte[] zigzag(long value) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    long raw = (value << 1) ^ (value >> 63);
    while ((raw & ~0x7FL) != 0) {
      out.write((int) (raw & 0x7F) | 0x80);
      raw >>>= 7;
    }
    out.write((int) raw);
    return out.toByteArray();
  }

  static byte[] join(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  /** Returns a length and bytes. */
  static byte[] bytes(byte[] bytes) {
    return join(zigzag(bytes.length), bytes);
  }

  static byte[] string(String text) {
    return bytes(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns a frame whose head is right, with any body. */
  static byte[] frame(int typeCode, byte[]... body) {
    return join(zigzag(typeCode), bytes(join(body)));
  }

  static byte[] barrier(long id) {
    return ControlFrames.encode(TypeCode.BARRIER, new Barrier(id));
  }
}
