package io.eventbus.server.federation.lane;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that all lanes together hold, and how many they may: so that buses that cannot be
 * reached, or are slow, do not use up what clients need. Any thread, but for a {@link Share}.
 *
 * <p>From half of the bound on, each lane may hold no more than its part of that half; so what all
 * hold stays within the bound, and a lane that has little goes on.
 */
final class LaneMemory {
  /** Loops report in steps, because a counter that all of them change is slow. */
  private static final long STEP = 16 * 1024;

  private final long bound;
  private final AtomicLong told = new AtomicLong();

  LaneMemory(long bound) {
    this.bound = bound;
  }

  boolean isScarce() {
    return told.get() > bound / 2;
  }

  /** What one of so many may hold while it is scarce. */
  long part(int count) {
    return bound / 2 / Math.max(1, count);
  }

  /** Makes the account of a loop. */
  Share share() {
    return new Share();
  }

  /** What the lanes of one loop hold. Confined to it. */
  final class Share {
    private long untold;

    void change(long bytes) {
      untold += bytes;
      if (untold >= STEP || untold <= -STEP) {
        told.addAndGet(untold);
        untold = 0;
      }
    }
  }
}
