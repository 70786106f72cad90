package io.eventbus.loadtest.coordination.run;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.eventbus.loadtest.run.LatencySummary;
import java.util.List;
import java.util.Map;

/**
 * What one phase with one system gave.
 *
 * @param seconds how long it took
 * @param late operations that took longer than any one attempt may, repetitions included
 * @param leaderChanges during the phase, -1 if not asked for
 * @param eachTenth successes in every tenth of a second
 */
public record PhaseResult(
    String experiment,
    String system,
    int servers,
    int clients,
    int inFlight,
    int round,
    double seconds,
    long operations,
    LatencySummary latency,
    long longestGapMillis,
    double worstClientMillis,
    long late,
    Map<String, Long> errors,
    long conflicts,
    long leaderChanges,
    long serverCpuMicros,
    long clientCpuMicros,
    List<Long> eachTenth) {
  /** Takes copies. */
  public PhaseResult {
    errors = Map.copyOf(errors);
    eachTenth = List.copyOf(eachTenth);
  }

  /**
   * Returns the throughput.
   *
   * @return successes per second
   */
  @JsonProperty
  public double perSecond() {
    return seconds == 0 ? 0 : operations / seconds;
  }

  /**
   * Returns the mean latency.
   *
   * @return milliseconds
   */
  @JsonProperty
  public double meanMillis() {
    return latency.mean() / 1_000;
  }
}
