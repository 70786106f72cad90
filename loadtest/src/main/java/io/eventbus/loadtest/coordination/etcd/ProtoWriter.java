package io.eventbus.loadtest.coordination.etcd;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Writes the few types of protocol buffers that requests need. */
final class ProtoWriter {
  private static final int LENGTH_DELIMITED = 2;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  ProtoWriter number(int field, long value) {
    varint((long) field << 3);
    varint(value);
    return this;
  }

  ProtoWriter bytes(int field, byte[] value) {
    varint(((long) field << 3) | LENGTH_DELIMITED);
    varint(value.length);
    out.write(value, 0, value.length);
    return this;
  }

  ProtoWriter text(int field, String value) {
    return bytes(field, value.getBytes(StandardCharsets.UTF_8));
  }

  ProtoWriter message(int field, ProtoWriter message) {
    return bytes(field, message.toByteArray());
  }

  private void varint(long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      out.write((int) ((rest & 0x7F) | 0x80));
      rest >>>= 7;
    }
    out.write((int) rest);
  }

  byte[] toByteArray() {
    return out.toByteArray();
  }
}
