package io.eventbus.registry;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * Latency of log entries, from the leader's proposal until they were on the disks of a majority and
 * applied, while this bus led.
 *
 * @param count the number of entries
 * @param total the sum of their times
 * @param longest the longest
 * @param buckets the numbers of entries up to growing times; slower ones are in none
 */
public record CommitLatency(long count, Duration total, Duration longest, List<Bucket> buckets) {
  /** Value without measurements. */
  public static final CommitLatency NONE =
      new CommitLatency(0, Duration.ZERO, Duration.ZERO, List.of());

  /**
   * Copies the list.
   *
   * @param count as above
   * @param total as above
   * @param longest as above
   * @param buckets as above
   */
  public CommitLatency {
    Objects.requireNonNull(total, "total");
    Objects.requireNonNull(longest, "longest");
    buckets = List.copyOf(buckets);
  }

  /**
   * Number of entries that took no longer than a time.
   *
   * @param upTo the time
   * @param count the number, including the buckets before
   */
  public record Bucket(Duration upTo, long count) {
    /**
     * Takes the values.
     *
     * @param upTo as above
     * @param count as above
     */
    public Bucket {
      Objects.requireNonNull(upTo, "upTo");
    }
  }

  /**
   * Returns the time within which a part of them was done.
   *
   * @param part the part, 0 to 1
   * @return the end of the bucket, or the longest time; zero if nothing was measured
   * @throws IllegalArgumentException if the part is out of its range
   */
  public Duration quantile(double part) {
    if (!(part >= 0 && part <= 1)) {
      throw new IllegalArgumentException("part: " + part + " (expected: 0 to 1)");
    }
    double wanted = part * count;
    for (Bucket bucket : buckets) {
      if (bucket.count() >= wanted) {
        return bucket.upTo().compareTo(longest) < 0 ? bucket.upTo() : longest;
      }
    }
    return longest;
  }
}
