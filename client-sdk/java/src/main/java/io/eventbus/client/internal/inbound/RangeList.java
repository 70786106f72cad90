package io.eventbus.client.internal.inbound;

import java.util.Arrays;

/**
 * Small set of sequence numbers, kept as ranges in ascending order; of too many ranges the lowest
 * is forgotten. For one thread.
 */
final class RangeList {
  /** Receiver of a range. */
  @FunctionalInterface
  interface Sink {
    void range(long from, long to);
  }

  private static final int MAX_RANGES = 64;

  private long[] bounds = new long[4];
  private int count;

  boolean isEmpty() {
    return count == 0;
  }

  void clear() {
    count = 0;
  }

  /** Passes the parts of a range that are not in the set to the receiver, in ascending order. */
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
    int first = 0;
    while (first < count && bounds[2 * first + 1] < from - 1) {
      first++;
    }
    int next = first;
    while (next < count && bounds[2 * next] <= to + 1) {
      next++;
    }
    // Those from the first to the one before the next touch the new one and are merged with it.
    long low = next > first ? Math.min(from, bounds[2 * first]) : from;
    long high = next > first ? Math.max(to, bounds[2 * next - 1]) : to;
    replace(first, next);
    bounds[2 * first] = low;
    bounds[2 * first + 1] = high;
    if (count > MAX_RANGES) {
      count--;
      System.arraycopy(bounds, 2, bounds, 0, 2 * count);
    }
  }

  /** Replaces ranges, perhaps none, by one that is still to be filled in. */
  private void replace(int first, int next) {
    int after = count - next;
    count = first + 1 + after;
    if (2 * count > bounds.length) {
      bounds = Arrays.copyOf(bounds, 2 * bounds.length);
    }
    System.arraycopy(bounds, 2 * next, bounds, 2 * (first + 1), 2 * after);
  }
}
