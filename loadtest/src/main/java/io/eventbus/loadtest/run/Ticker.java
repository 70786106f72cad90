package io.eventbus.loadtest.run;

import java.util.concurrent.locks.LockSupport;

/** Time as the rate limiter sees it; tests have one of their own. */
public interface Ticker {
  /** The machine's monotonic clock. */
  Ticker SYSTEM =
      new Ticker() {
        @Override
        public long nanoTime() {
          return System.nanoTime();
        }

        @Override
        public void park(long nanos) {
          LockSupport.parkNanos(nanos);
        }
      };

  /**
   * Returns the time.
   *
   * @return nanoseconds from any origin
   */
  long nanoTime();

  /**
   * Waits; may return early.
   *
   * @param nanos how long
   */
  void park(long nanos);
}
