package io.eventbus.loadtest.run;

/**
 * The part of a run in which latency is recorded; nothing is until it is opened; it may be opened
 * again. Any thread.
 */
final class MeasuredSpan {
  private volatile long from = Long.MAX_VALUE;
  private volatile long to = Long.MAX_VALUE;

  /** Records events that are due from now on. */
  void open(long now) {
    to = Long.MAX_VALUE;
    from = now;
  }

  /** Records nothing more. */
  void shut() {
    from = Long.MAX_VALUE;
  }

  /** Records no event that is due later than now. */
  void close(long now) {
    to = now;
  }

  /** Returns whether the measured part has begun. */
  boolean opened() {
    return from != Long.MAX_VALUE;
  }

  boolean holds(long due) {
    return due >= from && due < to;
  }
}
