package io.eventbus.loadtest.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.run.LatencySummary;
import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.workload.Workload;
import io.eventbus.loadtest.workload.Workloads;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BaselineTest {
  private static final Workload WORKLOAD = Workloads.shipped().select("requests/64").get(0);

  private static RunResult run(String driver, int run, long delivered, double p50) {
    return new RunResult(
        WORKLOAD.name(),
        driver,
        "1",
        run,
        "2026-01-01T00:00:00Z",
        1,
        delivered,
        delivered,
        new LatencySummary(delivered, p50, p50, p50, p50, p50, p50, p50, List.of()),
        1_000_000,
        1_000_000,
        1,
        1,
        Integrity.WHOLE,
        0,
        0,
        List.of(),
        null,
        null,
        null,
        null,
        null);
  }

  /** Pairs on a machine that gets slower: only within a pair it is the same. */
  private static Report report(int pairs, double newByOld, double spread) {
    List<RunResult> results = new ArrayList<>();
    for (int i = 1; i <= pairs; i++) {
      long old = 1_000_000L / i;
      double again = 1 + (i % 2 == 0 ? spread : -spread);
      results.add(run(Baseline.NEW, i, Math.round(old * newByOld), 100 / newByOld));
      results.add(run(Baseline.OLD, i, old, 100));
      results.add(run(Baseline.OLD_AGAIN, i, Math.round(old * again), 100 / again));
    }
    return new Report(
        "", "", Machine.here(), results.size(), List.of(), List.of(WORKLOAD), results);
  }

  private static List<String> verdicts(Report report) {
    return Baseline.rows(report).stream().skip(1).map(row -> row.get(row.size() - 1)).toList();
  }

  @Test
  void twoPercentSlowerIsNotSlower() {
    assertThat(verdicts(report(7, 0.981, 0))).containsOnly("not slower").hasSize(4);
  }

  @Test
  void threePercentSlowerIsSlower() {
    assertThat(verdicts(report(7, 0.97, 0))).containsOnly("SLOWER");
  }

  @Test
  void slowerByLessThanTheOldDiffersFromItselfIsNotSlower() {
    assertThat(verdicts(report(8, 0.96, 0.05))).containsOnly("not slower");
  }

  @Test
  void fewPairsHaveNoVerdict() {
    assertThat(verdicts(report(6, 1, 0))).allMatch(verdict -> verdict.startsWith("none"));
  }

  @Test
  void withoutAnOlderBusThereIsNoRow() {
    Report alone =
        new Report(
            "",
            "",
            Machine.here(),
            1,
            List.of(),
            List.of(WORKLOAD),
            List.of(run(Baseline.NEW, 1, 10, 1)));
    assertThat(Baseline.rows(alone)).hasSize(1);
  }
}
