package io.eventbus.server.call;

import io.eventbus.server.stats.CallStats;
import java.util.List;

/** The services of a bus and the calls of them. Any thread, but for {@link #start}. */
public interface BusCalls {
  /**
   * Gives a loop its calls. Once for each loop, before any of them has a connection.
   *
   * @param loop its number
   * @param port the loop
   * @param stats the loop's counters
   * @return the loop's calls
   */
  LoopCalls start(int loop, LoopPort port, CallStats stats);

  /**
   * Lists the services that have members.
   *
   * @return by name
   */
  List<ServiceFigures> services();

  /**
   * Returns how many services have members.
   *
   * @return at least 0
   */
  int serviceCount();
}
