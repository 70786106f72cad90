package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Closed loop: performs one operation after the other and repeats a failed one after a pause. For
 * one thread, whose counts may be read by any thread and whose other figures after its end.
 */
final class RegisterLoop implements Runnable {
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long LATE_NANOS = CoordinationClient.DEADLINE.toNanos();

  /** Operation of a loop. */
  interface Step {
    /** Performs it once; throws CoordinationException if that failed, and is repeated. */
    void perform(Slot slot, RegisterLoop loop);
  }

  private final Slot slot;
  private final Step step;
  private final MeasuredPart measured;
  private final Histogram nanos = new Histogram(3);
  private final Map<String, Long> errors = new TreeMap<>();
  private final AtomicLong called = new AtomicLong();
  private final AtomicLong answered = new AtomicLong();
  private long lastSuccess;
  private long longestNanos;
  private long late;
  private long conflicts;
  private volatile boolean stopped;
  private volatile @Nullable Throwable broken;

  /** Measured part of a run, and the longest time in it without a success of any loop. */
  static final class MeasuredPart {
    private volatile boolean open;
    private volatile long begin;
    private final AtomicLong lastSuccess = new AtomicLong();
    private final AtomicLong longestNanos = new AtomicLong();

    void begin(long now) {
      begin = now;
      lastSuccess.set(now);
      open = true;
    }

    void success(long now) {
      long before = lastSuccess.getAndAccumulate(now, Math::max);
      longestNanos.accumulateAndGet(now - before, Math::max);
    }

    /** Ends it, and returns the longest time without a success in nanoseconds. */
    long end(long now) {
      success(now);
      open = false;
      return longestNanos.get();
    }

    boolean holds(long time) {
      return open && time - begin >= 0;
    }
  }

  RegisterLoop(Slot slot, Step step, MeasuredPart measured) {
    this.slot = slot;
    this.step = step;
    this.measured = measured;
  }

  @Override
  public void run() {
    try {
      long begun = begin();
      while (!stopped) {
        try {
          step.perform(slot, this);
          long now = System.nanoTime();
          success(begun, now);
          begun = begin();
        } catch (CoordinationException e) {
          slot.failed(e);
          if (measured.holds(System.nanoTime())) {
            errors.merge(e.kind(), 1L, Long::sum);
          }
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
      countLate(begun, System.nanoTime());
    } catch (Throwable e) {
      // An Error, too: without this loop the run would be slow and look right.
      broken = e;
    }
  }

  private long begin() {
    called.incrementAndGet();
    return System.nanoTime();
  }

  private void success(long begun, long now) {
    answered.incrementAndGet();
    countLate(begun, now);
    if (measured.holds(begun)) {
      nanos.recordValue(now - begun);
    }
    if (measured.holds(now)) {
      measured.success(now);
      longestNanos = Math.max(longestNanos, now - last());
      lastSuccess = now;
    }
  }

  private void countLate(long begun, long now) {
    if (measured.holds(now) && now - begun > LATE_NANOS) {
      late++;
    }
  }

  private long last() {
    return lastSuccess == 0 ? measured.begin : lastSuccess;
  }

  /** Counts a conditional write that came too late. */
  void conflict() {
    conflicts++;
  }

  /** Asks it to end after the operation that is under way. */
  void stop() {
    stopped = true;
  }

  boolean isStopped() {
    return stopped;
  }

  /** Returns what has ended it early; null if nothing has. */
  @Nullable Throwable broken() {
    return broken;
  }

  long called() {
    return called.get();
  }

  long answered() {
    return answered.get();
  }

  Histogram nanos() {
    return nanos;
  }

  Map<String, Long> errors() {
    return errors;
  }

  long late() {
    return late;
  }

  long conflicts() {
    return conflicts;
  }

  /** Returns the longest time without a success until the end of the measured part. */
  long longestNanos(long end) {
    return Math.max(longestNanos, end - last());
  }
}
