package io.eventbus.server.call;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work of one loop that can become due in masses at one moment, because connections are lost
 * together for instance: done in slices, between which the loop reads and writes for everybody.
 * Those that have such work take turns, a step each, so that nobody waits behind the masses of
 * another. Confined to the loop.
 *
 * <p>Where there is little of it, it is done at once.
 */
final class Slices {
  /** Work between two rounds of reads. */
  static final long SLICE_NANOS = 2_000_000;

  /** Steps of a slice that are done although other loops are behind, so that it comes to an end. */
  private static final int MIN_STEPS = 8;

  /** How long to wait for loops that are behind. */
  private static final long BEHIND_NANOS = 1_000_000;

  private static final Logger LOG = LoggerFactory.getLogger(Slices.class);

  /** Something that is done in steps. */
  @FunctionalInterface
  interface Work {
    /**
     * Does a piece that takes microseconds; nothing if there is none. A step that throws has done
     * its piece as well.
     */
    boolean step(long nowNanos);

    /** Charges the time of a step to the client that has caused it. */
    default void took(long nanos) {}
  }

  private final LoopPort port;
  private final BooleanSupplier areOthersBehind;
  private final Runnable onTurn = this::turn;
  private final Queue<Work> waiting = new ArrayDeque<>();
  private boolean running;
  private boolean asked;
  // Work that was done at once lately, without a turn: also many small pieces are a slice.
  private long windowBegan;
  private long used;

  /**
   * Makes one without work.
   *
   * @param areOthersBehind whether another loop has not yet done what it was told
   */
  Slices(LoopPort port, BooleanSupplier areOthersBehind) {
    this.port = port;
    this.areOthersBehind = areOthersBehind;
    this.windowBegan = port.nanoTime();
  }

  /** Does some work, now or in later turns. */
  void add(Work work) {
    waiting.add(work);
    if (!running && !asked) {
      long now = port.nanoTime();
      if (now - windowBegan >= 2 * SLICE_NANOS) {
        windowBegan = now;
        used = 0;
      }
      run(now);
    }
  }

  private void turn() {
    asked = false;
    windowBegan = port.nanoTime();
    used = 0;
    run(windowBegan);
  }

  private void run(long began) {
    running = true;
    boolean behind = false;
    long now = began;
    try {
      for (int i = 0; used < SLICE_NANOS && !behind; i++) {
        Work next = waiting.poll();
        if (next == null) {
          return;
        }
        if (step(next, now)) {
          waiting.add(next);
        }
        long after = port.nanoTime();
        next.took(after - now);
        used += after - now;
        now = after;
        behind = i >= MIN_STEPS && areOthersBehind.getAsBoolean();
      }
    } finally {
      running = false;
      if (!waiting.isEmpty()) {
        asked = true;
        port.later(onTurn, behind ? BEHIND_NANOS : 1);
      }
    }
  }

  private static boolean step(Work work, long nowNanos) {
    try {
      return work.step(nowNanos);
    } catch (RuntimeException e) {
      // A step must not throw; one that does all the same must not take others with it.
      LOG.error("what was due on this loop could not be done", e);
      return true;
    }
  }

  /** Does all that is left, however long it takes: the loop ends. */
  void finish() {
    assert !running : "from within";
    for (Work next = waiting.poll(); next != null; next = waiting.poll()) {
      if (step(next, port.nanoTime())) {
        waiting.add(next);
      }
    }
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }
}
