package io.eventbus.cli.demo;

import java.time.Duration;
import java.util.List;

/** Clock that squeezes the time of the data into the time of the demo. */
final class DemoClock {
  private final long startNanos;
  private final long firstMillis;
  private final double nanosPerMilli;

  DemoClock(List<Flight> flights, Duration duration, long startNanos) {
    this.startNanos = startNanos;
    this.firstMillis = flights.get(0).millis();
    long span = Math.max(1, flights.get(flights.size() - 1).millis() - firstMillis);
    this.nanosPerMilli = (double) duration.toNanos() / span;
  }

  /** Returns the factor by which it is faster than the data. */
  double pace() {
    return 1_000_000 / nanosPerMilli;
  }

  /** Returns when to publish a flight, as {@link System#nanoTime}. */
  long due(Flight flight) {
    return startNanos + (long) ((flight.millis() - firstMillis) * nanosPerMilli);
  }
}
