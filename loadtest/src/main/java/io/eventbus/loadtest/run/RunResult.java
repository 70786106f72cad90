package io.eventbus.loadtest.run;

import io.eventbus.loadtest.driver.Outages;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Result of a run of a workload with a driver.
 *
 * @param seconds how long the measured part took
 * @param serverCpuMicros CPU time of the server's process in the measured part, -1 if unknown
 * @param clientCpuMicros CPU time of the load generator's process, both publishers and subscribers,
 *     -1 if unknown
 * @param serverRssBytes resident memory of the server at the end of the measured part, -1 if
 *     unknown
 * @param integrity over the whole run, what may be lost left out
 * @param problem why the run ended early, null if it did not
 */
public record RunResult(
    String workload,
    String driver,
    String version,
    int run,
    String startedAt,
    double seconds,
    long published,
    long delivered,
    LatencySummary latency,
    long serverCpuMicros,
    long clientCpuMicros,
    long serverRssBytes,
    long clientRssBytes,
    Integrity integrity,
    long allowedLost,
    long reportedLost,
    List<Long> deliveredEachSecond,
    @Nullable PassTimes pass,
    @Nullable IdleCost idle,
    @Nullable Outages outages,
    @Nullable MoveFigures moves,
    @Nullable String problem) {

  /** Takes a copy of the timeline. */
  public RunResult {
    deliveredEachSecond = List.copyOf(deliveredEachSecond);
  }

  /**
   * Returns the throughput of the publishers.
   *
   * @return events per second, all publishers together
   */
  public double publishedPerSecond() {
    return seconds == 0 ? 0 : published / seconds;
  }

  /**
   * Returns the throughput of the subscribers.
   *
   * @return events per second, all subscribers together
   */
  public double deliveredPerSecond() {
    return seconds == 0 ? 0 : delivered / seconds;
  }

  /**
   * Returns the server's CPU time for one delivery.
   *
   * @return microseconds, -1 if unknown
   */
  public double serverCpuMicrosPerDelivery() {
    return serverCpuMicros < 0 || delivered == 0 ? -1 : (double) serverCpuMicros / delivered;
  }

  /**
   * Returns the load generator's CPU time for one delivery.
   *
   * @return microseconds, -1 if unknown
   */
  public double clientCpuMicrosPerDelivery() {
    return clientCpuMicros < 0 || delivered == 0 ? -1 : (double) clientCpuMicros / delivered;
  }

  /** Makes the result of a run that could not even begin. */
  public static RunResult failed(
      String workload, String driver, String version, int run, String startedAt, String problem) {
    return new RunResult(
        workload,
        driver,
        version,
        run,
        startedAt,
        0,
        0,
        0,
        LatencySummary.NONE,
        ProcessMeter.UNKNOWN,
        ProcessMeter.UNKNOWN,
        ProcessMeter.UNKNOWN,
        ProcessMeter.UNKNOWN,
        Integrity.WHOLE,
        0,
        0,
        List.of(),
        null,
        null,
        null,
        null,
        problem);
  }
}
