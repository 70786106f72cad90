package io.eventbus.loadtest.run;

/**
 * Says when each event of one publisher is due, and waits for it.
 *
 * <p>The events of all publishers together are spread evenly: the n-th of them is due n / rate
 * seconds after the start, and publisher p of P has the events p, p + P, p + 2 P and so on. A
 * publisher that falls behind is never given time back: its events stay due when they were, so that
 * latency measured from then holds the waiting too (no coordinated omission; after the
 * UniformRateLimiter of the OpenMessaging benchmark). For one thread.
 */
public final class UniformRate {
  private static final long SECOND = 1_000_000_000L;

  private final Ticker ticker;
  private final long start;
  private final long perSecond;
  private final int publishers;
  private long next;

  /**
   * Creates one.
   *
   * @param start when event 0 is due, by {@code ticker}
   * @param perSecond events of all publishers together, at least 1
   * @param publishers how many share the rate, at least 1
   * @param publisher which of them this is, from 0
   */
  public UniformRate(Ticker ticker, long start, long perSecond, int publishers, int publisher) {
    if (perSecond < 1) {
      throw new IllegalArgumentException("perSecond: " + perSecond + " (expected: >= 1)");
    }
    this.ticker = ticker;
    this.start = start;
    this.perSecond = perSecond;
    this.publishers = publishers;
    this.next = publisher;
  }

  /**
   * Gives out the next event.
   *
   * @return when it is due, which may be past
   */
  public long next() {
    long n = next;
    next += publishers;
    // Seconds and the rest apart: exact for ever, where n * 10^9 would overflow.
    return start + n / perSecond * SECOND + n % perSecond * SECOND / perSecond;
  }

  /** Waits until a time has come; returns at once if it is past. */
  public void await(long due) {
    for (long left = due - ticker.nanoTime(); left > 0; left = due - ticker.nanoTime()) {
      ticker.park(left);
    }
  }
}
