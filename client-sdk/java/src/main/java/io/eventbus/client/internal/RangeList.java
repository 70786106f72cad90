package io.eventbus.client.internal;

/**
 * A small set of sequence numbers, kept as ranges in ascending order; of too many ranges the lowest
 * is forgotten. For one thread.
 */
final class RangeList {
  /** Takes a range. */
  @FunctionalInterface
  interface Sink {
    void range(long from, long to);
  }

  private static final int MOST = 64;

  private long[] bounds = new long[4];
  private int count;

  boolean isEmpty() {
    return count == 0;
  }

  void clear() {
    count = 0;
  }

  /** Tells the parts of a range that are not in the set, in ascending order. */
  void missing(long from, long to, Sink sink) {
    long at = from;
    for (int i = 0; i < count && at <= to; i++) {
      long low = bounds[2 * i];
      long high = bounds[2 * i + 1];
      if (high < at) {
        continue;
      }
      if (low > to) {
        break;
      }
      if (low > at) {
        sink.range(at, low - 1);
      }
      at = high + 1;
    }
    if (at <= to) {
      sink.range(at, to);
    }
  }

  /** Returns the first number from here on that is not in the set. */
  long firstMissing(long from) {
    for (int i = 0; i < count; i++) {
      if (bounds[2 * i] <= from && from <= bounds[2 * i + 1]) {
        // Neighbouring ranges are merged, so that the next number is not in the set.
        return bounds[2 * i + 1] + 1;
      }
    }
    return from;
  }

  void add(long from, long to) {
    if (count > 0 && from == bounds[2 * count - 1] + 1) {
      // Nearly always: what comes follows what came.
      bounds[2 * count - 1] = to;
      return;
    }
    long low = from;
    long high = to;
    int keep = 0;
    int insertAt = -1;
    long[] merged = new long[2 * count + 2];
    for (int i = 0; i < count; i++) {
      long otherLow = bounds[2 * i];
      long otherHigh = bounds[2 * i + 1];
      if (otherHigh < low - 1 || otherLow > high + 1) {
        if (otherLow > high && insertAt < 0) {
          insertAt = keep++;
        }
        merged[2 * keep] = otherLow;
        merged[2 * keep + 1] = otherHigh;
        keep++;
      } else {
        low = Math.min(low, otherLow);
        high = Math.max(high, otherHigh);
      }
    }
    if (insertAt < 0) {
      insertAt = keep++;
    }
    merged[2 * insertAt] = low;
    merged[2 * insertAt + 1] = high;
    bounds = merged;
    count = keep;
    if (count > MOST) {
      System.arraycopy(bounds, 2, bounds, 0, 2 * count - 2);
      count--;
    }
  }
}
