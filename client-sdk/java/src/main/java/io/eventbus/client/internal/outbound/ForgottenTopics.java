package io.eventbus.client.internal.outbound;

/**
 * Next sequence numbers of topics that a publisher has forgotten otherwise, by a hash of their
 * names: an open-addressing table (D. Knuth, "The Art of Computer Programming", volume 3, section
 * 6.4) of two longs for each. Guarded by the {@link Outbox}'s lock.
 *
 * <p>Two topics with one hash share the higher number. Subscribers of the other topic are then told
 * a gap that is none, which is harmless; a number that were used twice would lose an event. The
 * same happens when there are too many: all are dropped, and every unknown topic starts above every
 * number that was used.
 */
final class ForgottenTopics {
  private static final int FIRST_SLOTS = 1024;

  private final int max;
  // The hash, never 0, and the number; 0 for a free slot.
  private long[] hashes = new long[FIRST_SLOTS];
  private long[] numbers = new long[FIRST_SLOTS];
  private int size;
  private long highest = 1;
  private long floor = 1;

  /** Creates an empty table. */
  ForgottenTopics(int max) {
    this.max = max;
  }

  int size() {
    return size;
  }

  /** Sets the number that the next event of a topic is to have. */
  void put(byte[] topic, long next) {
    highest = Math.max(highest, next);
    long hash = hash(topic);
    int slot = slot(hash);
    if (hashes[slot] == hash) {
      numbers[slot] = Math.max(numbers[slot], next);
      return;
    }
    if (size == max) {
      floor = highest;
      reset();
      return;
    }
    hashes[slot] = hash;
    numbers[slot] = next;
    size++;
    if (2 * size > hashes.length) {
      grow();
    }
  }

  /** Returns the number that the next event of a topic is to have; 1 for a new topic. */
  long next(byte[] topic) {
    long hash = hash(topic);
    int slot = slot(hash);
    return hashes[slot] == hash ? Math.max(floor, numbers[slot]) : floor;
  }

  /** Clears the table: all topics begin again at 1. */
  void clear() {
    highest = 1;
    floor = 1;
    reset();
  }

  private void reset() {
    hashes = new long[FIRST_SLOTS];
    numbers = new long[FIRST_SLOTS];
    size = 0;
  }

  private void grow() {
    long[] oldHashes = hashes;
    long[] oldNumbers = numbers;
    hashes = new long[2 * oldHashes.length];
    numbers = new long[2 * oldHashes.length];
    for (int i = 0; i < oldHashes.length; i++) {
      if (oldHashes[i] != 0) {
        int slot = slot(oldHashes[i]);
        hashes[slot] = oldHashes[i];
        numbers[slot] = oldNumbers[i];
      }
    }
  }

  /**
   * Returns the slot of the hash, or the free slot where it would be; half of the slots are free.
   */
  private int slot(long hash) {
    int mask = hashes.length - 1;
    int slot = (int) hash & mask;
    while (hashes[slot] != 0 && hashes[slot] != hash) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /**
   * Hashes with FNV-1a in 64 bits and the last step of MurmurHash3, which spreads it over all bits.
   */
  private static long hash(byte[] topic) {
    long hash = 0xcbf29ce484222325L;
    for (byte b : topic) {
      hash = (hash ^ (b & 0xFF)) * 0x100000001b3L;
    }
    hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
    hash = (hash ^ (hash >>> 33)) * 0xc4ceb9fe1a85ec53L;
    hash ^= hash >>> 33;
    return hash == 0 ? 1 : hash;
  }
}
