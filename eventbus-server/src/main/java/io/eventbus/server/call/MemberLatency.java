package io.eventbus.server.call;

/**
 * Latency estimate of a member. Only its own loop writes; any thread reads values that may be a
 * moment old and of two moments.
 *
 * <p>The peak rises at once and decays over a second, as in Finagle's "peak EWMA": a member that
 * becomes slow is detected with the first answer.
 */
final class MemberLatency {
  private static final double DECAY_NANOS = 1e9;

  /** Age below which decay is not worth its computation. */
  private static final long FRESH_NANOS = 10_000_000;

  /** Minimum that a failure counts for: a member that fails fast must not look fast. */
  static final long FAILURE_NANOS = 100_000_000;

  private static final long MAX_NANOS = 30_000_000_000L;

  private volatile long peak;
  private volatile long mean;
  private volatile long at;
  // Start of the time in which the member has owed answers without giving any; meaningless if it
  // owes none.
  private volatile long quietSince;

  /** Records that the member was given a call: the only one that it has now, or one more. */
  void began(boolean onlyOne, long nowNanos) {
    if (onlyOne) {
      quietSince = nowNanos;
    }
  }

  /** Records an answer. */
  void answered(long nanos, long nowNanos) {
    quietSince = nowNanos;
    double old = Math.exp(-(nowNanos - at) / DECAY_NANOS);
    long meanNow = mean;
    mean = meanNow == 0 ? nanos : mix(meanNow, nanos, old);
    rise(nanos, old, nowNanos);
  }

  /** Records a failure. */
  void failed(long nowNanos) {
    quietSince = nowNanos;
    double old = Math.exp(-(nowNanos - at) / DECAY_NANOS);
    rise(Math.min(MAX_NANOS, Math.max(4 * peak, FAILURE_NANOS)), old, nowNanos);
  }

  private void rise(long nanos, double old, long nowNanos) {
    long before = peak;
    peak = nanos >= before ? nanos : mix(before, nanos, old);
    at = nowNanos;
  }

  private static long mix(long before, long now, double old) {
    return Math.max(1, (long) (before * old + now * (1 - old)));
  }

  /**
   * Returns the worst recent latency that a call has to expect.
   *
   * @param unanswered number of answers that the member owes; without calls on their way to it,
   *     because it may have been idle for long
   */
  long peak(int unanswered, long nowNanos) {
    long value = peak;
    long age = nowNanos - at;
    if (age > FRESH_NANOS) {
      value = (long) (value * Math.exp(-age / DECAY_NANOS));
    }
    return unanswered > 0 ? Math.max(value, nowNanos - quietSince) : value;
  }

  /** Returns the mean latency of a call; 0 if unknown. */
  long mean(int unanswered, long nowNanos) {
    long value = mean;
    return unanswered > 0 && value > 0 ? Math.max(value, nowNanos - quietSince) : value;
  }
}
