package io.eventbus.server.memory;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * Hashes of what clients choose, with a secret of this process: nobody outside can choose names or
 * numbers that share a place in a table with open addressing. Stateless; any thread.
 */
public final class SecretHash {
  // Factors of MurmurHash3's finalizer: random ones may mix badly.
  private static final long FACTOR = 0xff51afd7ed558ccdL;
  private static final long FACTOR_2 = 0xc4ceb9fe1a85ec53L;

  private static final long SECRET;
  private static final long SECRET_2;

  static {
    SecureRandom random = new SecureRandom();
    SECRET = random.nextLong();
    SECRET_2 = random.nextLong();
  }

  private SecretHash() {}

  /**
   * Hashes bytes, eight at a time; the same for the same bytes, as long as the process lives.
   *
   * @param in position and limit do not matter
   */
  public static int of(ByteBuffer in, int start, int length) {
    long h = SECRET ^ length;
    int i = 0;
    for (; i + 8 <= length; i += 8) {
      h = (h ^ in.getLong(start + i)) * FACTOR;
      h ^= h >>> 32;
    }
    for (; i < length; i++) {
      h = (h ^ in.get(start + i)) * FACTOR_2;
    }
    h ^= h >>> 33;
    h *= FACTOR;
    return (int) (h ^ (h >>> 32));
  }

  /** Replaces a number by another one. */
  static long of(long number) {
    long h = number ^ SECRET;
    h = (h ^ (h >>> 33)) * FACTOR;
    h ^= SECRET_2;
    h = (h ^ (h >>> 33)) * FACTOR_2;
    return h ^ (h >>> 33);
  }
}
