package io.eventbus.client.internal.base;

import java.util.concurrent.TimeUnit;

/** Clocks of a client, which tests replace. */
public interface MicroClock {
  /** Returns nanoseconds from an arbitrary start, never going back. */
  long nanoTime();

  /** Returns microseconds since the epoch. */
  long epochMicros();

  /** Returns the machine's clocks. */
  static MicroClock system() {
    return new SystemClock();
  }

  /**
   * Clock with microseconds of wall time at the price of one {@code nanoTime}: the offset between
   * the two clocks is measured again every second, so that corrections of the wall clock are
   * followed.
   */
  final class SystemClock implements MicroClock {
    private static final long RESYNC_NANOS = TimeUnit.SECONDS.toNanos(1);

    // Any thread may replace it; a lost race only means one more measurement.
    private volatile Offset offset = Offset.measure();

    @Override
    public long nanoTime() {
      return System.nanoTime();
    }

    @Override
    public long epochMicros() {
      long now = System.nanoTime();
      Offset current = offset;
      if (now - current.atNanos > RESYNC_NANOS) {
        current = Offset.measure();
        offset = current;
      }
      return current.epochMicros + (now - current.atNanos) / 1_000;
    }

    private record Offset(long atNanos, long epochMicros) {
      static Offset measure() {
        java.time.Instant now = java.time.Clock.systemUTC().instant();
        return new Offset(
            System.nanoTime(), now.getEpochSecond() * 1_000_000L + now.getNano() / 1_000);
      }
    }
  }
}
