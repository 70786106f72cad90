package io.eventbus.server.call;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work of one loop that can become due in masses at one moment, for instance because connections
 * are lost together: done in slices, between which the loop reads and writes for all clients. Works
 * take turns, a step each, so that none waits behind the masses of another. Confined to the loop.
 *
 * <p>A small amount is done at once.
 */
final class Slices {
  /** Work between two rounds of reads. */
  static final long SLICE_NANOS = 2_000_000;

  /** Steps of a slice that are done although other loops are behind, so that it comes to an end. */
  private static final int MIN_STEPS = 8;

  /** Time to wait for loops that are behind. */
  private static final long BEHIND_NANOS = 1_000_000;

  private static final Logger LOG = LoggerFactory.getLogger(Slices.class);

  /** Work that is done in steps. */
  @FunctionalInterface
  interface Work {
    /**
     * Does a piece that takes microseconds, if any; returns whether there is more. A step that
     * throws counts as done.
     */
    boolean step(long nowNanos);

    /** Charges the time of a step to the client that has caused it. */
    default void charge(long nanos) {}
  }

  private final LoopPort port;
  private final BooleanSupplier areOthersBehind;
  private final Runnable onTurn = this::turn;
  private final Queue<Work> waiting = new ArrayDeque<>();
  private boolean running;
  private boolean scheduled;
  // Work done at once lately, without a turn: many small pieces are a slice, too.
  private long windowBegan;
  private long used;

  /**
   * Creates slices without work.
   *
   * @param areOthersBehind tells whether another loop has not yet processed its notes
   */
  Slices(LoopPort port, BooleanSupplier areOthersBehind) {
    this.port = port;
    this.areOthersBehind = areOthersBehind;
    this.windowBegan = port.nanoTime();
  }

  /** Does some work, now or in later turns. */
  void add(Work work) {
    waiting.add(work);
    if (!running && !scheduled) {
      long now = port.nanoTime();
      if (now - windowBegan >= 2 * SLICE_NANOS) {
        windowBegan = now;
        used = 0;
      }
      run(now);
    }
  }

  private void turn() {
    scheduled = false;
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
        next.charge(after - now);
        used += after - now;
        now = after;
        behind = i >= MIN_STEPS && areOthersBehind.getAsBoolean();
      }
    } finally {
      running = false;
      if (!waiting.isEmpty()) {
        scheduled = true;
        port.later(onTurn, behind ? BEHIND_NANOS : 1);
      }
    }
  }

  private static boolean step(Work work, long nowNanos) {
    try {
      return work.step(nowNanos);
    } catch (RuntimeException e) {
      // A step must not throw; if it does, other work is not affected.
      LOG.error("work that was due on this loop failed", e);
      return true;
    }
  }

  /** Does all remaining work, however long it takes, because the loop ends. */
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
