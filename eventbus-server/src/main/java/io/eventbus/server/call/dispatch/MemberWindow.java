package io.eventbus.server.call.dispatch;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Window of a member: the maximum number of its concurrent calls. Any loop acquires places;
 * everything else is confined to the member's loop.
 *
 * <p>The window grows towards the declared concurrency plus the calls that have to wait at the
 * member to hide the round trip: the completions of a millisecond. It starts with the declared
 * concurrency, at most 64, and doubles at most every 100 ms. A member that fails five times in a
 * row gets no calls for a second, twice as long each further time, then one call, and then more by
 * doubling.
 */
public final class MemberWindow {
  /** Maximum first size. */
  public static final int MAX_FIRST = 64;

  static final int MAX_WAITING = 1_024;

  /** Minimum interval of growth. */
  public static final long GROWTH_NANOS = 100_000_000;

  /** Failures in a row after which a member is paused. */
  public static final int FAILURES = 5;

  static final long FIRST_PAUSE_NANOS = 1_000_000_000;
  static final long MAX_PAUSE_NANOS = 30_000_000_000L;

  private static final double RATE_NANOS = 1e9;
  private static final double HIDDEN_NANOS = 1e6;

  // Equals limit - outstanding; negative while the window is smaller than the number of calls of
  // the member.
  private final AtomicInteger free = new AtomicInteger();
  // 0 <= limit <= target. Only the member's loop writes.
  private volatile int limit;
  private int concurrency;
  private long adjustedAt;
  private int completions;
  // Completions per nanosecond.
  private double rate;
  private int failuresInRow;
  private int pauses;
  private volatile boolean paused;
  private boolean closed;

  /** Creates a window with free places only. */
  public MemberWindow(int concurrency, long nowNanos) {
    this.adjustedAt = nowNanos;
    capacity(concurrency);
  }

  /** Acquires a place; any thread. */
  public boolean tryAcquire() {
    for (int f = free.get(); f > 0; f = free.get()) {
      if (free.compareAndSet(f, f - 1)) {
        return true;
      }
    }
    return false;
  }

  /** Releases a place; any thread. */
  public void release() {
    free.incrementAndGet();
  }

  /** Returns whether {@link #tryAcquire} would succeed; any thread. */
  public boolean hasFree() {
    return free.get() > 0;
  }

  /** Returns the size of the window; any thread. */
  public int limit() {
    return limit;
  }

  /** Returns the number of acquired places; any thread. */
  public int outstanding() {
    return Math.max(0, limit - free.get());
  }

  /** Returns whether the member is paused after failures; any thread. */
  public boolean isPaused() {
    return paused;
  }

  /** Changes the declared concurrency. */
  public void capacity(int declared) {
    concurrency = declared;
    if (paused || closed) {
      return;
    }
    int first = Math.min(declared, MAX_FIRST);
    set(declared == 0 ? 0 : Math.min(Math.max(limit, first), target()));
  }

  /** Sets the number of places that a peer has granted. */
  public void grant(int places) {
    if (!closed) {
      set(places);
    }
  }

  /** Closes the window: no further calls. */
  public void close() {
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

  /** Adjusts the window after an answer, good or bad. */
  public void completed(long nowNanos) {
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
      // After a failure the window keeps its size until the member has succeeded.
      int max = failuresInRow == 0 ? Math.max(1, 2 * limit) : limit;
      set(Math.min(max, target()));
    }
  }

  /** Records a success of the member. */
  public void succeeded() {
    failuresInRow = 0;
    if (!paused) {
      pauses = 0;
    }
  }

  /** Records a failure; returns true if the member has failed too often to get further calls. */
  public boolean failed() {
    failuresInRow++;
    return failuresInRow >= FAILURES && !paused && !closed && limit > 0;
  }

  /** Pauses the member; returns the duration. */
  public long pause() {
    long nanos = Math.min(MAX_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(pauses, 5));
    pauses++;
    paused = true;
    set(0);
    return nanos;
  }

  /** Lets the member try again, with one call; the next failure pauses it again. */
  public void resume() {
    if (paused) {
      paused = false;
      set(Math.min(1, concurrency));
    }
  }
}
