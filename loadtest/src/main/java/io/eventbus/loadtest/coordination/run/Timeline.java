package io.eventbus.loadtest.coordination.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** Counts successes in every millisecond of a phase. Any thread. */
final class Timeline {
  private final long startNanos;
  private final AtomicIntegerArray millis;

  Timeline(long startNanos, Duration length) {
    this.startNanos = startNanos;
    this.millis = new AtomicIntegerArray(Math.toIntExact(length.toMillis()));
  }

  /** Counts a success; one before the phase or after it does not count. */
  void success(long nanos) {
    long milli = TimeUnit.NANOSECONDS.toMillis(nanos - startNanos);
    if (nanos >= startNanos && milli < millis.length()) {
      millis.incrementAndGet((int) milli);
    }
  }

  long total() {
    long total = 0;
    for (int i = 0; i < millis.length(); i++) {
      total += millis.get(i);
    }
    return total;
  }

  /** Sums up intervals of so many milliseconds; the last one may be shorter. */
  List<Long> each(int length) {
    List<Long> sums = new ArrayList<>();
    for (int i = 0; i < millis.length(); i++) {
      if (i % length == 0) {
        sums.add(0L);
      }
      int last = sums.size() - 1;
      sums.set(last, sums.get(last) + millis.get(i));
    }
    return sums;
  }

  /** The longest time without a success, the beginning and the end of the phase included. */
  long longestGapMillis() {
    long longest = 0;
    long before = 0;
    for (int i = 0; i < millis.length(); i++) {
      if (millis.get(i) > 0) {
        longest = Math.max(longest, i - before);
        before = i;
      }
    }
    return Math.max(longest, millis.length() - before);
  }
}
