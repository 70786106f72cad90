package io.eventbus.loadtest.coordination.run;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.eventbus.loadtest.run.LatencySummary;
import java.util.List;
import java.util.Map;

/**
 * What one phase with one system gave.
 *
 * @param experiment "warm-up", "table", a failure scenario, "pipelined", "transactions" or
 *     "leader-kill"
 * @param system its name
 * @param servers how many
 * @param clients how many connections
 * @param inFlight commands of one client at a time
 * @param round from 1
 * @param seconds how long it took
 * @param operations that succeeded in it
 * @param latency of each, repetitions included
 * @param longestGapMillis the longest time in which no client had a success
 * @param worstClientMillis the longest time in which any one client had none
 * @param late operations that took longer than any one attempt may, repetitions included
 * @param errors of attempts, by sort; a client that asks the next server by itself has fewer
 * @param conflicts conditional writes that came too late and were made again
 * @param leaderChanges during the phase, -1 if not asked for
 * @param serverCpuMicros CPU time of all servers, those that were killed left out
 * @param clientCpuMicros CPU time of the load generator
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
