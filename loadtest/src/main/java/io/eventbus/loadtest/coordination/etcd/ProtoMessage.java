package io.eventbus.loadtest.coordination.etcd;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** The fields of a message that was received; of a repeated field the last. */
final class ProtoMessage {
  private static final byte[] NOTHING = {};

  private final Map<Integer, Long> numbers = new HashMap<>();
  private final Map<Integer, byte[]> bytes = new HashMap<>();

  private ProtoMessage() {}

  static ProtoMessage parse(byte[] message) {
    ProtoMessage fields = new ProtoMessage();
    ByteBuffer in = ByteBuffer.wrap(message);
    while (in.hasRemaining()) {
      long tag = varint(in);
      int field = (int) (tag >>> 3);
      switch ((int) (tag & 7)) {
        case 0 -> fields.numbers.put(field, varint(in));
        case 1 -> fields.numbers.put(field, in.getLong());
        case 2 -> {
          byte[] value = new byte[(int) varint(in)];
          in.get(value);
          fields.bytes.put(field, value);
        }
        case 5 -> fields.numbers.put(field, (long) in.getInt());
        default -> throw new IllegalArgumentException("tag: " + tag + " (expected: a known type)");
      }
    }
    return fields;
  }

  private static long varint(ByteBuffer in) {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      byte b = in.get();
      value |= (b & 0x7FL) << shift;
      if (b >= 0) {
        return value;
      }
    }
    throw new IllegalArgumentException("a number that does not end");
  }

  boolean has(int field) {
    return bytes.containsKey(field);
  }

  long number(int field) {
    return numbers.getOrDefault(field, 0L);
  }

  String text(int field) {
    return new String(bytes.getOrDefault(field, NOTHING), StandardCharsets.UTF_8);
  }

  ProtoMessage message(int field) {
    return parse(bytes.getOrDefault(field, NOTHING));
  }
}
