package io.eventbus.server.federation.lane;

import io.eventbus.server.stats.SingleWriterCounter;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Bytes kept by a lane, and whether there is room for more. Changed by the lane's loop only; read
 * by any thread.
 */
final class LaneQuota {
  private final LaneLoop loop;
  private final long maxBytes;
  private final SingleWriterCounter held = new SingleWriterCounter();
  // A publisher that waits for several lanes comes again to those that were not the first to have
  // room: a set keeps each of them once.
  private final Set<Runnable> waiting = ConcurrentHashMap.newKeySet();
  private volatile boolean full;

  LaneQuota(LaneLoop loop) {
    this.loop = loop;
    this.maxBytes = loop.config().queueBytes();
  }

  private long bound() {
    return loop.laneMemory().isScarce() ? Math.min(maxBytes, loop.lanePart()) : maxBytes;
  }

  void add(long bytes) {
    held.add(bytes);
    loop.laneShare().change(bytes);
    if (!full && held.get() > bound()) {
      full = true;
    }
  }

  void free(long bytes) {
    held.add(-bytes);
    loop.laneShare().change(-bytes);
    if (full && held.get() <= bound() / 2) {
      open();
    }
  }

  /** Opens: nothing is kept any more, or new frames are not kept. */
  void open() {
    full = false;
    wake();
  }

  long bytes() {
    return held.get();
  }

  boolean isFull() {
    return full;
  }

  boolean isCrowded() {
    return full || held.get() > maxBytes / 2;
  }

  void whenNotFull(Runnable retry) {
    waiting.add(retry);
    if (!full) {
      wake();
    }
  }

  private void wake() {
    if (waiting.isEmpty()) {
      return;
    }
    // Callers that have to wait again come back, and are not called twice.
    for (Runnable retry : List.copyOf(waiting)) {
      if (waiting.remove(retry)) {
        retry.run();
      }
    }
  }
}
