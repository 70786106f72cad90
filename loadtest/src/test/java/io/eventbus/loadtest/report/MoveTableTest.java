package io.eventbus.loadtest.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.run.LatencySummary;
import io.eventbus.loadtest.run.MoveFigures;
import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.run.Spread;
import io.eventbus.loadtest.workload.Workload;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MoveTableTest {
  private static RunResult result(
      String experiment,
      double arrival,
      double pause,
      double round,
      Integrity integrity,
      long disconnects,
      @Nullable String problem) {
    return new RunResult(
        "switch/" + experiment,
        "eventbus",
        "1.0",
        1,
        "2026-01-01T00:00:00Z",
        10,
        100,
        100,
        new LatencySummary(1, 200, 200, 200, 300, 300, 300, 400, List.of()),
        -1,
        -1,
        -1,
        -1,
        integrity,
        7,
        0,
        List.of(),
        null,
        null,
        null,
        new MoveFigures(
            2,
            new Spread(List.of(arrival, arrival)),
            new Spread(List.of(round)),
            new Spread(List.of(pause, pause)),
            Spread.NONE,
            new Spread(List.of(0.5)),
            LatencySummary.NONE,
            LatencySummary.NONE,
            Map.of("no room", 3L),
            disconnects),
        problem);
  }

  private static Report report(RunResult... results) {
    return new Report(
        "2026-01-01T00:00:00Z",
        "loadtest switch",
        Machine.here(),
        results.length,
        List.of(),
        Stream.of(results)
            .map(result -> Workload.described(result.workload(), "What <is> done"))
            .toList(),
        List.of(results));
  }

  private static SpeedTarget.Verdict verdict(Report report, String start) {
    return report.targets().stream()
        .filter(target -> target.goal().startsWith("switch/" + start))
        .findFirst()
        .orElseThrow()
        .verdict();
  }

  @Test
  void targetsAreReachedOrNot() {
    Report report =
        report(
            result("one-subscriber", 20, 5, 0, Integrity.WHOLE, 0, null),
            result("one-publisher", 20, 26, 0, Integrity.WHOLE, 0, null),
            result("drain", 20, 251, 10_000, Integrity.WHOLE, 1, null),
            result("kill", 3_001, 0, 0, Integrity.WHOLE, 9, null));
    assertThat(verdict(report, "one-subscriber: pause, p50"))
        .isEqualTo(SpeedTarget.Verdict.REACHED);
    assertThat(verdict(report, "one-publisher: pause, p50")).isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(verdict(report, "one-publisher: pause, p99")).isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(verdict(report, "drain: all")).isEqualTo(SpeedTarget.Verdict.REACHED);
    assertThat(verdict(report, "drain: pause")).isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(verdict(report, "drain: 0/0/0")).isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(verdict(report, "kill: clients")).isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(verdict(report, "kill: 0/0/0")).isEqualTo(SpeedTarget.Verdict.REACHED);
    assertThat(report.whole() && report.complete()).isTrue();
  }

  @Test
  void anExperimentThatDidNotRunIsNotMeasured() {
    Report report = report(result("hot-topic", 1, 1, 1, Integrity.WHOLE, 0, null));
    assertThat(verdict(report, "drain: pause")).isEqualTo(SpeedTarget.Verdict.NOT_MEASURED);
    assertThat(ResultTable.of(report))
        .contains("hot-topic")
        .doesNotContain("drain")
        .doesNotContain("30.33");
  }

  @Test
  void aLostEventIsNoSuccess() {
    Report report = report(result("one-subscriber", 1, 1, 1, new Integrity(1, 0, 0, 0), 0, null));
    assertThat(report.whole()).isFalse();
    assertThat(verdict(report, "one-subscriber: 0/0/0")).isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(ResultTable.of(report)).contains("1/0/0").contains("30.33");
  }

  @Test
  void aProblemIsToldAndIsNoSuccess() {
    Report report =
        report(result("rolling-restart", 1, 1, 1, Integrity.WHOLE, 0, "bus-1 did not <end>"));
    assertThat(report.complete()).isFalse();
    assertThat(verdict(report, "rolling-restart: 0/0/0")).isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(ResultTable.of(report)).contains("failed: bus-1 did not <end>", "no room");
    assertThat(HtmlReport.page(report))
        .contains("bus-1 did not &lt;end&gt;", "What &lt;is&gt; done", "<img alt=\"Waits\"")
        .doesNotContain("<is>");
  }

  @Test
  void aReportIsReadAsItWasWritten(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("results.json");
    Report report =
        report(result("drain", 20, 251, 10_000, new Integrity(1, 2, 3, 4), 1, "broke off"));
    ResultsJson.write(file, report);
    assertThat(ResultsJson.report(ResultsJson.read(file))).isEqualTo(report);
  }
}
