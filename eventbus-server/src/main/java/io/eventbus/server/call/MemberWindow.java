package io.eventbus.server.call;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many calls a member may have at once. Places are taken by any loop; all else is confined to
 * the member's loop.
 *
 * <p>The window grows towards the declared concurrency and what has to wait at the member to hide
 * the round trip: the completions of a millisecond. It begins with what is declared, at most 64,
 * and doubles no more often than every 100 ms. A member that fails five times in a row gets nothing
 * for a second, twice as long each further time, then one call, and then more by doubling.
 */
final class MemberWindow {
  static final int MAX_FIRST = 64;
  static final int MAX_WAITING = 1_024;
  static final long GROWTH_NANOS = 100_000_000;
  static final int FAILURES = 5;
  static final long FIRST_PAUSE_NANOS = 1_000_000_000;
  static final long MAX_PAUSE_NANOS = 30_000_000_000L;

  private static final double RATE_NANOS = 1e9;
  private static final double HIDDEN_NANOS = 1e6;

  // limit - outstanding; negative while the window is smaller than what the member has.
  private final AtomicInteger free = new AtomicInteger();
  // 0 <= limit <= target. Only the member's loop writes.
  private volatile int limit;
  private int concurrency;
  private long adjustedAt;
  private int completions;
  // Completions of a nanosecond.
  private double rate;
  private int failuresInRow;
  private int pauses;
  private volatile boolean paused;
  private boolean closed;

  MemberWindow(int concurrency, long nowNanos) {
    this.adjustedAt = nowNanos;
    capacity(concurrency);
  }

  /** Takes a place; any thread. */
  boolean take() {
    for (int f = free.get(); f > 0; f = free.get()) {
      if (free.compareAndSet(f, f - 1)) {
        return true;
      }
    }
    return false;
  }

  /** Gives a place back; any thread. */
  void giveBack() {
    free.incrementAndGet();
  }

  /** Says whether {@link #take} would succeed; any thread. */
  boolean hasFree() {
    return free.get() > 0;
  }

  /** The size of the window; any thread. */
  int limit() {
    return limit;
  }

  /** How many places are taken; any thread. */
  int outstanding() {
    return Math.max(0, limit - free.get());
  }

  /** Whether the member gets nothing because it has failed; any thread. */
  boolean isPaused() {
    return paused;
  }

  /** Changes the declared concurrency. */
  void capacity(int declared) {
    concurrency = declared;
    if (paused || closed) {
      return;
    }
    int first = Math.min(declared, MAX_FIRST);
    set(declared == 0 ? 0 : Math.min(Math.max(limit, first), target()));
  }

  /** Another bus says how many places there are. */
  void grant(int places) {
    if (!closed) {
      set(places);
    }
  }

  /** Takes all places that are free, for good. */
  void close() {
    closed = true;
    paused = false;
    set(0);
  }

  private int target() {
    if (concurrency == 0) {
      return 0;
    }
    long waiting = Math.round(rate * HIDDEN_NANOS);
    return concurrency + (int) Math.max(1, Math.min(MAX_WAITING, waiting));
  }

  private void set(int size) {
    int more = size - limit;
    if (more != 0) {
      limit = size;
      free.addAndGet(more);
    }
  }

  /** The member has answered, well or not: the window may change. */
  void completed(long nowNanos) {
    completions++;
    long passed = nowNanos - adjustedAt;
    if (passed < GROWTH_NANOS) {
      return;
    }
    double old = Math.exp(-passed / RATE_NANOS);
    rate = rate * old + completions / (double) passed * (1 - old);
    completions = 0;
    adjustedAt = nowNanos;
    if (!paused && !closed && concurrency > 0) {
      // After a failure the window keeps its size, until the member has done something well.
      int most = failuresInRow == 0 ? Math.max(1, 2 * limit) : limit;
      set(Math.min(most, target()));
    }
  }

  /** The member has done its work. */
  void succeeded() {
    failuresInRow = 0;
    if (!paused) {
      pauses = 0;
    }
  }

  /** The member has failed; returns true if it has done so too often to get further calls. */
  boolean failed() {
    failuresInRow++;
    return failuresInRow >= FAILURES && !paused && !closed && limit > 0;
  }

  /** Stops the member; returns for how long. */
  long pause() {
    long nanos = Math.min(MAX_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(pauses, 5));
    pauses++;
    paused = true;
    set(0);
    return nanos;
  }

  /** Lets the member try again, with one call; the next failure stops it again. */
  void resume() {
    if (paused) {
      paused = false;
      set(Math.min(1, concurrency));
    }
  }
}
