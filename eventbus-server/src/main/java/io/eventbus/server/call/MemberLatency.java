package io.eventbus.server.call;

/**
 * How long a member takes. Only its own loop writes; any thread reads, what it reads may be a
 * moment old and of two moments.
 *
 * <p>The peak rises at once and decays over a second, as in Finagle's "peak EWMA": who becomes slow
 * is seen with the first answer.
 */
final class MemberLatency {
  private static final double DECAY_NANOS = 1e9;

  /** Below this, what has decayed is not worth its computation. */
  private static final long FRESH_NANOS = 10_000_000;

  /** What a failure counts for at least: who fails fast must not look fast. */
  static final long FAILURE_NANOS = 100_000_000;

  private static final long MAX_NANOS = 30_000_000_000L;

  private volatile long peak;
  private volatile long mean;
  private volatile long at;
  // Since when the member has owed an answer without giving one; meaningless if it owes none.
  private volatile long quietSince;

  /** The member has been given a call; the only one that it has now, or one more. */
  void began(boolean onlyOne, long nowNanos) {
    if (onlyOne) {
      quietSince = nowNanos;
    }
  }

  /** The member has answered. */
  void answered(long nanos, long nowNanos) {
    quietSince = nowNanos;
    double old = Math.exp(-(nowNanos - at) / DECAY_NANOS);
    long meanNow = mean;
    mean = meanNow == 0 ? nanos : mix(meanNow, nanos, old);
    rise(nanos, old, nowNanos);
  }

  /** The member has failed. */
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
   * Returns what a call can expect by the worst that was seen lately.
   *
   * @param unanswered how many answers the member owes; not what is only on its way to it, because
   *     it may have been idle for long
   */
  long peak(int unanswered, long nowNanos) {
    long value = peak;
    long age = nowNanos - at;
    if (age > FRESH_NANOS) {
      value = (long) (value * Math.exp(-age / DECAY_NANOS));
    }
    return unanswered > 0 ? Math.max(value, nowNanos - quietSince) : value;
  }

  /** Returns what a call takes as a rule; 0 if that is not known. */
  long mean(int unanswered, long nowNanos) {
    long value = mean;
    return unanswered > 0 && value > 0 ? Math.max(value, nowNanos - quietSince) : value;
  }
}
