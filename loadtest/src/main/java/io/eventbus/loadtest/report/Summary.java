package io.eventbus.loadtest.report;

import io.eventbus.loadtest.run.IdleCost;
import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.run.RunResult;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/**
 * The runs of one workload with one driver: each figure is the median of the runs that came to
 * their end and in which it is known, and has its range where that says something.
 *
 * @param failed how many did not
 * @param deliveredPerSecond events per second over all subscribers
 * @param publishedPerSecond events per second over all publishers
 * @param meanLatency in microseconds
 * @param p50 latency in microseconds
 * @param p99 latency in microseconds
 * @param p999 latency in microseconds
 * @param serverCpuMicros for one delivery, -1 if unknown
 * @param clientCpuMicros for one delivery, publishers and subscribers together, -1 if unknown
 * @param serverRssBytes resident memory, -1 if unknown
 * @param publisherMillis how long a given number of events took at the publisher, -1 if unknown
 * @param idleConnectsPerSecond idle connections that the server let in each second, -1 if unknown
 * @param idleRssBytes by how much the server's memory grew for each, 0 if unknown
 */
public record Summary(
    String workload,
    String driver,
    String version,
    int runs,
    int failed,
    double deliveredPerSecond,
    double deliveredLeast,
    double deliveredMost,
    double publishedPerSecond,
    double meanLatency,
    double p50,
    double p99,
    double p999,
    double serverCpuMicros,
    double clientCpuMicros,
    double serverRssBytes,
    Integrity integrity,
    long allowedLost,
    double publisherMillis,
    double busMillis,
    double idleConnectsPerSecond,
    double idleRssBytes) {

  private static final double UNKNOWN = -1;

  static Summary of(List<RunResult> results) {
    List<RunResult> ended = results.stream().filter(r -> r.problem() == null).toList();
    RunResult any = results.get(0);
    return new Summary(
        any.workload(),
        any.driver(),
        any.version(),
        ended.size(),
        results.size() - ended.size(),
        median(ended, RunResult::deliveredPerSecond),
        ended.stream().mapToDouble(RunResult::deliveredPerSecond).min().orElse(0),
        ended.stream().mapToDouble(RunResult::deliveredPerSecond).max().orElse(0),
        median(ended, RunResult::publishedPerSecond),
        median(ended, r -> r.latency().mean()),
        median(ended, r -> r.latency().p50()),
        median(ended, r -> r.latency().p99()),
        median(ended, r -> r.latency().p999()),
        known(ended, RunResult::serverCpuMicrosPerDelivery),
        known(ended, RunResult::clientCpuMicrosPerDelivery),
        known(ended, RunResult::serverRssBytes),
        results.stream().map(RunResult::integrity).reduce(Integrity.WHOLE, Integrity::plus),
        results.stream().mapToLong(RunResult::allowedLost).sum(),
        known(ended, r -> r.pass() == null ? UNKNOWN : r.pass().publisherMillis()),
        known(ended, r -> r.pass() == null ? UNKNOWN : r.pass().busMillis()),
        known(ended, r -> r.idle() == null ? UNKNOWN : r.idle().connectsPerSecond()),
        rssEach(ended));
  }

  /** Writes what became of the events: lost/doubled/reordered, and what was allowed to be lost. */
  String verdict() {
    return allowedLost == 0 ? integrity.toString() : integrity + " + " + allowedLost + " lost";
  }

  /** Returns the median of the runs in which a figure is known: what is unknown is no figure. */
  private static double known(List<RunResult> results, ToDoubleFunction<RunResult> figure) {
    double[] known = results.stream().mapToDouble(figure).filter(f -> f >= 0).toArray();
    return known.length == 0 ? UNKNOWN : median(known);
  }

  /** Memory may be given back, so that less than 0 is a figure; only what is unknown is -1. */
  private static double rssEach(List<RunResult> results) {
    double[] known =
        results.stream()
            .map(RunResult::idle)
            .filter(Objects::nonNull)
            .mapToDouble(IdleCost::rssBytesEach)
            .filter(bytes -> bytes != UNKNOWN)
            .toArray();
    return known.length == 0 ? 0 : median(known);
  }

  private static double median(List<RunResult> results, ToDoubleFunction<RunResult> figure) {
    return results.isEmpty() ? 0 : median(results.stream().mapToDouble(figure).toArray());
  }

  private static double median(double[] figures) {
    double[] sorted = figures.clone();
    Arrays.sort(sorted);
    int n = sorted.length;
    return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  }
}
