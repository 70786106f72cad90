package io.eventbus.registry.ratis.forward;

import io.eventbus.registry.CommitLatency;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts of commits by their duration, in buckets that double. Any thread; nothing is allocated.
 */
final class CommitLatencies {
  /** End of the first bucket: an eighth of a millisecond. */
  private static final long FIRST_NANOS = 125_000;

  /** Number of buckets: up to 8 seconds, with one more for slower commits. */
  private static final int BUCKETS = 17;

  private final AtomicLongArray counts = new AtomicLongArray(BUCKETS + 1);
  private final LongAdder total = new LongAdder();
  private final AtomicLong longest = new AtomicLong();

  void record(long nanos) {
    int bucket = 0;
    while (bucket < BUCKETS && nanos > (FIRST_NANOS << bucket)) {
      bucket++;
    }
    counts.incrementAndGet(bucket);
    total.add(nanos);
    longest.accumulateAndGet(nanos, Math::max);
  }

  CommitLatency summary() {
    List<CommitLatency.Bucket> buckets = new ArrayList<>(BUCKETS);
    long sum = 0;
    for (int i = 0; i < BUCKETS; i++) {
      sum += counts.get(i);
      buckets.add(new CommitLatency.Bucket(Duration.ofNanos(FIRST_NANOS << i), sum));
    }
    return new CommitLatency(
        sum + counts.get(BUCKETS),
        Duration.ofNanos(total.sum()),
        Duration.ofNanos(longest.get()),
        buckets);
  }
}
