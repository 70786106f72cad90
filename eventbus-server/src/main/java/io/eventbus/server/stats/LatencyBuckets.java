package io.eventbus.server.stats;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/** Histogram of durations with fixed bounds; one thread writes, any thread reads. */
public final class LatencyBuckets {
  private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

  private static final long[] BOUNDS_MICROS = {
    10,
    20,
    50,
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000
  };

  private final long[] counts = new long[BOUNDS_MICROS.length + 1];
  private final SingleWriterCounter sumMicros = new SingleWriterCounter();

  /** Creates an empty histogram. */
  public LatencyBuckets() {}

  /**
   * Records a duration; only the owning thread may call this.
   *
   * @param nanos nanoseconds; a negative one counts as 0
   */
  public void record(long nanos) {
    record(nanos, 1);
  }

  /**
   * Records a duration that is the same for several; only the owning thread may call this.
   *
   * @param nanos nanoseconds; a negative one counts as 0
   */
  public void record(long nanos, int times) {
    long micros = Math.max(0, nanos / 1000);
    int i = 0;
    while (i < BOUNDS_MICROS.length && micros > BOUNDS_MICROS[i]) {
      i++;
    }
    CELL.setOpaque(counts, i, counts[i] + times);
    sumMicros.add(micros * times);
  }

  /**
   * Returns a copy of the upper bounds of the buckets in microseconds, ascending: all but the last,
   * which has none.
   */
  public static long[] boundsMicros() {
    return BOUNDS_MICROS.clone();
  }

  /** Returns how many durations fell into each bucket. */
  public long[] counts() {
    long[] copy = new long[counts.length];
    Arrays.setAll(copy, i -> (long) CELL.getOpaque(counts, i));
    return copy;
  }

  /** Returns the sum of all durations in microseconds. */
  public long sumMicros() {
    return sumMicros.get();
  }
}
