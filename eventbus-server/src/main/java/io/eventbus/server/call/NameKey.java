package io.eventbus.server.call;

import io.eventbus.server.memory.SecretHash;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Key made of the bytes of a service's name. Comparable, because clients choose names, and hash
 * tables do not exploit the order of {@link ByteBuffer}'s own classes. Immutable except for an
 * instance that is only used for look-ups.
 */
final class NameKey implements Comparable<NameKey> {
  private static final byte[] NOTHING = {};

  private byte[] bytes = NOTHING;
  private int length;
  private int hash;

  /** Reads another key into this one, without an object. */
  NameKey read(ByteBuffer in, int start, int size) {
    if (bytes.length < size) {
      bytes = new byte[size];
    }
    in.get(start, bytes, 0, size);
    length = size;
    hash = SecretHash.of(in, start, size);
    return this;
  }

  /** Returns an immutable copy. */
  NameKey copy() {
    NameKey copy = new NameKey();
    copy.bytes = Arrays.copyOf(bytes, length);
    copy.length = length;
    copy.hash = hash;
    return copy;
  }

  /** Returns the bytes of the name, which are not to be changed. */
  ByteBuffer buffer() {
    return ByteBuffer.wrap(bytes, 0, length);
  }

  /** Returns the length of the name in bytes. */
  int length() {
    return length;
  }

  @Override
  public int compareTo(NameKey other) {
    return Arrays.compare(bytes, 0, length, other.bytes, 0, other.length);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof NameKey that
        && hash == that.hash
        && Arrays.equals(bytes, 0, length, that.bytes, 0, that.length);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  /** Returns the name. */
  @Override
  public String toString() {
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }
}
