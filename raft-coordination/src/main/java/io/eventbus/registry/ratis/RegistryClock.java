package io.eventbus.registry.ratis;

import java.time.Clock;
import java.util.function.LongSupplier;

/**
 * Registry time at this bus: the time of the last applied command, plus the time since then.
 *
 * <p>Wall clocks jump; registry time must not, because leases run out by it. So it goes on from bus
 * to bus, and stands still while the whole cluster is down. Only the very first command takes its
 * time from the wall clock. Any thread.
 */
final class RegistryClock {
  private final Clock wall;
  private final LongSupplier nanoTime;
  private long baseMillis;
  private long baseNanos;
  private boolean started;
  private long lastGiven;

  RegistryClock(Clock wall, LongSupplier nanoTime) {
    this.wall = wall;
    this.nanoTime = nanoTime;
  }

  /** Sets the time to that of an applied command. */
  synchronized void applied(long timeMillis) {
    if (timeMillis > now()) {
      baseMillis = timeMillis;
      baseNanos = nanoTime.getAsLong();
    }
    started = true;
  }

  /** Restarts from a state that was read, with its time. */
  synchronized void restart(long timeMillis) {
    baseMillis = timeMillis;
    baseNanos = nanoTime.getAsLong();
    started = timeMillis > 0;
  }

  /** Returns the time for a command that comes in now. */
  synchronized long stamp() {
    if (!started) {
      restart(Math.max(1, wall.millis()));
    }
    lastGiven = Math.max(lastGiven, now());
    return lastGiven;
  }

  synchronized long now() {
    return baseMillis + (nanoTime.getAsLong() - baseNanos) / 1_000_000;
  }
}
