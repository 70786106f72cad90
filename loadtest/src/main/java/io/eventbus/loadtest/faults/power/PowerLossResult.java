package io.eventbus.loadtest.faults.power;

import java.util.List;

/**
 * Result of a system.
 *
 * @param rounds losses of power after which it served again
 * @param confirmed events
 * @param lost confirmed events that were gone
 * @param roundsWithLoss rounds in which there was one at least
 * @param readyMillis time of each start after a loss of power
 * @param failure why it ended before all rounds; empty if it did not
 */
public record PowerLossResult(
    String system,
    String version,
    int rounds,
    long confirmed,
    long lost,
    int roundsWithLoss,
    List<Long> readyMillis,
    String failure) {
  /** Copies the list. */
  public PowerLossResult {
    readyMillis = List.copyOf(readyMillis);
  }
}
