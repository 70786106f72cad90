package io.eventbus.loadtest.faults.run;

import io.eventbus.loadtest.faults.history.BusFault;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Time of a fault.
 *
 * @param buses those it happened to
 * @param begin the time before it, in nanoseconds of the run
 * @param end the time at which all buses took clients again
 * @param alone whether no other fault was there meanwhile
 */
record FaultWindow(FaultKind kind, List<String> buses, long begin, long end, boolean alone) {
  /** Time for which others may still take a bus for lost that has come back. */
  private static final long BACK_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Time in which all buses of a fault have ended: a later life of them loses nothing by it. */
  private static final long ENDS_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Copies the list. */
  FaultWindow {
    buses = List.copyOf(buses);
  }

  /** Returns it as the judge sees it. */
  Stream<BusFault> faults() {
    long until = kind.endsLives() ? Math.min(end, begin + ENDS_NANOS) : end + BACK_NANOS;
    return buses.stream().map(bus -> new BusFault(bus, begin, until, kind.endsLives()));
  }
}
