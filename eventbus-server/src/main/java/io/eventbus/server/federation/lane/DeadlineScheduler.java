package io.eventbus.server.federation.lane;

/**
 * Deadlines that are looked at together with those of the lanes of the first loop, on that loop.
 */
public interface DeadlineScheduler {
  /** Looks at all: every 50 ms while any {@link #areNear}, else about every second. */
  void onTick(long nowNanos);

  /** Whether one may come within the next second. */
  boolean areNear();
}
