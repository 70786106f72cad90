package io.eventbus.server.federation.lane;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory of all lanes together, and its bound: unreachable or slow peers must not use up the memory
 * that clients need. Any thread, except for a {@link Share}.
 *
 * <p>Above half of the bound, each lane may keep no more than its part of that half; so the total
 * stays within the bound, and a lane that has little goes on.
 */
final class LaneMemory {
  /** Bytes between reports of a loop, because a counter that all loops change is slow. */
  private static final long STEP = 16 * 1024;

  private final long bound;
  private final AtomicLong reported = new AtomicLong();

  LaneMemory(long bound) {
    this.bound = bound;
  }

  boolean isScarce() {
    return reported.get() > bound / 2;
  }

  /** Returns the bytes of each of this many lanes while memory is scarce. */
  long part(int count) {
    return bound / 2 / Math.max(1, count);
  }

  /** Creates the account of a loop. */
  Share share() {
    return new Share();
  }

  /** Memory of the lanes of one loop. Confined to it. */
  final class Share {
    private long unreported;

    void change(long bytes) {
      unreported += bytes;
      if (unreported >= STEP || unreported <= -STEP) {
        reported.addAndGet(unreported);
        unreported = 0;
      }
    }
  }
}
