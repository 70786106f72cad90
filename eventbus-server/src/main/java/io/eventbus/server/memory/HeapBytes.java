package io.eventbus.server.memory;

/**
 * Estimates of an object's heap on a 64-bit HotSpot JVM with compressed references: they count what
 * clients make the bus keep, so that it can be bounded. A test compares the sums with the real
 * growth of the heap. Stateless; any thread.
 */
public final class HeapBytes {
  /** Map, and one of its entries, a little more than the smallest. */
  private static final int MAP = 136;

  private static final int MAP_ENTRY = 48;

  private static final int REFERENCE = 4;

  private HeapBytes() {}

  /** Estimates a string with its object and array, in bytes. */
  public static long ofString(String text) {
    boolean latin1 = true;
    for (int i = 0; i < text.length() && latin1; i++) {
      latin1 = text.charAt(i) < 256;
    }
    return 24 + aligned(16 + (latin1 ? 1L : 2L) * text.length());
  }

  private static long aligned(long bytes) {
    return (bytes + 7) & ~7L;
  }

  /** Estimates a map; 0 if it is empty, because then it is shared. */
  public static long ofMap(int size) {
    return size == 0 ? 0 : MAP + (long) size * MAP_ENTRY;
  }

  /** Estimates an array of {@code int}. */
  public static long ofInts(int length) {
    return ofArray(length, Integer.BYTES);
  }

  /** Estimates an array of {@code long}. */
  public static long ofLongs(int length) {
    return ofArray(length, Long.BYTES);
  }

  /** Estimates an array of references. */
  public static long ofSlots(int length) {
    return ofArray(length, REFERENCE);
  }

  /** Estimates an array of {@code byte}. */
  public static long ofBytes(int length) {
    return ofArray(length, Byte.BYTES);
  }

  private static long ofArray(int length, int each) {
    return aligned(16 + (long) each * length);
  }
}
