package io.eventbus.server.routing;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * Hashes of what clients choose, with a secret of this process: nobody outside can choose names or
 * numbers that share a place in a table with open addressing. Stateless; any thread.
 */
public final class SecretHash {
  private static final long SECRET;
  private static final long FACTOR;
  private static final long FACTOR_2;

  static {
    SecureRandom random = new SecureRandom();
    SECRET = random.nextLong();
    // Odd, so that different numbers stay different.
    FACTOR = random.nextLong() | 1;
    FACTOR_2 = random.nextLong() | 1;
  }

  private SecretHash() {}

  /**
   * Hashes bytes, eight at a time.
   *
   * @param in position and limit are not looked at
   * @param start the first byte
   * @param length how many
   * @return the same for the same bytes, as long as the process lives
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

  /**
   * Gives a number another one in its place.
   *
   * @param number any
   * @return never the same for two numbers
   */
  static long of(long number) {
    // Mixes as SplitMix64 does (Steele, Lea, Flood, 2014): a factor that is chosen at random may
    // mix badly.
    long h = number ^ SECRET;
    h = (h ^ (h >>> 30)) * 0xbf58476d1ce4e5b9L;
    h ^= FACTOR;
    h = (h ^ (h >>> 27)) * 0x94d049bb133111ebL;
    return h ^ (h >>> 31);
  }
}
