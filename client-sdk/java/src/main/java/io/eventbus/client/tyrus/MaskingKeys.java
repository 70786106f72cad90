package io.eventbus.client.tyrus;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * Masking keys that nobody can predict (RFC 6455, section 10.3), generated many at a time. Any
 * thread may use it.
 */
final class MaskingKeys {
  private static final int KEYS = 256;

  private final SecureRandom random = new SecureRandom();
  private final byte[] bytes = new byte[Integer.BYTES * KEYS];
  private final ByteBuffer left = ByteBuffer.wrap(bytes).limit(0);

  synchronized int next() {
    if (!left.hasRemaining()) {
      random.nextBytes(bytes);
      left.clear();
    }
    return left.getInt();
  }
}
