package io.eventbus.server.federation.lane;

/** Deadlines that are checked together with those of the lanes of one loop, on that loop. */
public interface DeadlineScheduler {
  /** Checks all: every 50 ms while any {@link #areDueSoon}, else about every second. */
  void onTick(long nowNanos);

  /** Returns whether one may come within the next second. */
  boolean areDueSoon();
}
