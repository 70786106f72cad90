package io.eventbus.simulation;

import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * Virtual time: runs events in the order of their times, and those of the same time in the order in
 * which they were scheduled. For one thread.
 */
final class Simulator {
  static final long MILLI = 1_000_000;
  static final long SECOND = 1_000 * MILLI;

  private static final class Event implements Comparable<Event> {
    final long time;
    final long order;
    final Runnable task;

    Event(long time, long order, Runnable task) {
      this.time = time;
      this.order = order;
      this.task = task;
    }

    @Override
    public int compareTo(Event other) {
      int byTime = Long.compare(time, other.time);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final long seed;
  // Not 0, which code may take for "never".
  private long now = SECOND;
  private long asked;
  private long done;
  private Progress progress = Progress.NONE;
  private long told;

  Simulator(long seed) {
    this.seed = seed;
  }

  /** Returns the time as {@link System#nanoTime}. */
  long now() {
    return now;
  }

  /** Sets the listener for progress. */
  void tell(Progress listener) {
    progress = listener;
  }

  /** Returns how many events have happened: the same for the same seed. */
  long events() {
    return done;
  }

  void at(long time, Runnable task) {
    events.add(new Event(Math.max(time, now), asked++, task));
  }

  void after(long nanos, Runnable task) {
    at(now + nanos, task);
  }

  /** Returns a generator that depends on the seed and on its use, and on nothing else. */
  SplittableRandom random(long... use) {
    return new SplittableRandom(hash(seed, use));
  }

  /** Returns a number from 0 to 1 for one use. */
  double fraction(long... use) {
    return (hash(seed, use) >>> 11) * 0x1.0p-53;
  }

  private static long hash(long seed, long... use) {
    long h = seed;
    for (long part : use) {
      h = (h ^ part) * 0x9E3779B97F4A7C15L;
      h ^= h >>> 29;
      h *= 0xBF58476D1CE4E5B9L;
      h ^= h >>> 32;
    }
    return h;
  }

  /** Passes time up to a moment. */
  void runUntil(long time) {
    for (Event next = events.peek(); next != null && next.time <= time; next = events.peek()) {
      events.remove();
      // Later, after a standstill.
      now = Math.max(now, next.time);
      done++;
      next.task.run();
      if (now - told >= SECOND) {
        told = now;
        progress.at(now);
      }
    }
    now = time;
  }

  void run(long nanos) {
    runUntil(now + nanos);
  }

  /** Passes time without events, as on a machine that stands still: due ones happen late. */
  void standStill(long nanos) {
    now += nanos;
  }

  /**
   * Passes time until a condition holds, checking every so often.
   *
   * @return how long it took; -1 if it did not hold in the longest time
   */
  long runUntil(BooleanSupplier holds, long every, long longest) {
    long start = now;
    while (!holds.getAsBoolean()) {
      if (now - start >= longest) {
        return -1;
      }
      run(every);
    }
    return now - start;
  }
}
