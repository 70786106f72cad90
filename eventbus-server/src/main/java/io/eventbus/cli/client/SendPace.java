package io.eventbus.cli.client;

import java.util.concurrent.locks.LockSupport;

/** Even spread of events over time; a late one does not move those after it. */
final class SendPace {
  private final double nanosPerEvent;
  private final long start = System.nanoTime();
  private long events;

  /** Creates a pace; a rate of 0 does not wait. */
  SendPace(double eventsPerSecond) {
    nanosPerEvent = eventsPerSecond > 0 ? 1e9 / eventsPerSecond : 0;
  }

  /**
   * Waits for the next event's time, or until the thread is interrupted, and returns that time as
   * {@link System#nanoTime}; the time of the call without a rate.
   */
  long next() {
    long due = start + (long) (nanosPerEvent * events++);
    long wait = due - System.nanoTime();
    while (nanosPerEvent > 0 && wait > 0 && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(this, wait);
      wait = due - System.nanoTime();
    }
    return nanosPerEvent > 0 ? due : System.nanoTime();
  }
}
