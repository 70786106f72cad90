package io.eventbus.loadtest.faults.run;

import java.util.List;

/**
 * Time of a fault.
 *
 * @param buses those it happened to
 * @param begin the time before it, in nanoseconds of the run
 * @param end the time at which all buses took clients again
 * @param alone whether no other fault was there meanwhile
 */
record FaultWindow(FaultKind kind, List<String> buses, long begin, long end, boolean alone) {
  /** Copies the list. */
  FaultWindow {
    buses = List.copyOf(buses);
  }
}
