package io.eventbus.server.memory;

/**
 * Different numbers, each with its position in the order in which they came: a hash table without
 * an object for each. Confined to one thread until nothing is added any more.
 */
public final class NumberTable {
  private final long[] numbers;
  private final int[] places;
  private int size;

  /** Creates an empty table for at most so many numbers. */
  public NumberTable(int max) {
    numbers = new long[max];
    places = new int[Integer.highestOneBit(Math.max(1, max)) << 2];
  }

  /** Returns a number's place; it gets the next one if it is new. */
  public int add(long number) {
    int slot = slot(number);
    if (places[slot] == 0) {
      numbers[size++] = number;
      places[slot] = size;
    }
    return places[slot] - 1;
  }

  /** Returns a number's place, -1 if it has none. */
  public int find(long number) {
    return places[slot(number)] - 1;
  }

  public int size() {
    return size;
  }

  public long bytes() {
    return HeapBytes.ofLongs(numbers.length) + HeapBytes.ofInts(places.length);
  }

  private int slot(long number) {
    int mask = places.length - 1;
    int slot = (int) ((number * 0x9e3779b97f4a7c15L) >>> 40) & mask;
    while (places[slot] != 0 && numbers[places[slot] - 1] != number) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
}
