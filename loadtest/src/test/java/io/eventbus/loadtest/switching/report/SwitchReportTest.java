package io.eventbus.loadtest.switching.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.report.Machine;
import io.eventbus.loadtest.report.ResultsJson;
import io.eventbus.loadtest.report.SpeedTarget;
import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.run.LatencySummary;
import io.eventbus.loadtest.switching.run.Spread;
import io.eventbus.loadtest.switching.run.SwitchPlan;
import io.eventbus.loadtest.switching.run.SwitchResult;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SwitchReportTest {
  private static final SwitchPlan PLAN =
      new SwitchPlan(100, 2_000, 4, 100, 1_000, 300, 10, 20, 128, Duration.ofSeconds(1), 8, null);

  private static SwitchResult result(
      String experiment,
      double switching,
      double pause,
      double round,
      Integrity integrity,
      long disconnects,
      @Nullable String problem) {
    return new SwitchResult(
        experiment,
        "What <was> done",
        2,
        new Spread(List.of(switching, switching)),
        new Spread(List.of(round)),
        new Spread(List.of(pause, pause)),
        Spread.NONE,
        new Spread(List.of(0.5)),
        LatencySummary.NONE,
        new LatencySummary(1, 200, 200, 200, 300, 300, 300, 400, List.of()),
        LatencySummary.NONE,
        integrity,
        7,
        Map.of("no room", 3L),
        disconnects,
        problem);
  }

  private static SwitchReport report(SwitchResult... results) {
    return new SwitchReport(
        "2026-01-01T00:00:00Z", Machine.here(), "loadtest switch", "1.0", PLAN, List.of(results));
  }

  private static SpeedTarget.Verdict verdict(SwitchReport report, String start) {
    return report.targets().stream()
        .filter(target -> target.goal().startsWith(start))
        .findFirst()
        .orElseThrow()
        .verdict();
  }

  @Test
  void targetsAreReachedOrNot() {
    SwitchReport report =
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
    assertThat(report.whole()).isTrue();
    assertThat(report.complete()).isTrue();
  }

  @Test
  void whatWasNotDoneIsNotMeasured() {
    SwitchReport report = report(result("hot-topic", 1, 1, 1, Integrity.WHOLE, 0, null));
    assertThat(verdict(report, "drain: pause")).isEqualTo(SpeedTarget.Verdict.NOT_MEASURED);
    assertThat(SwitchTable.of(report)).doesNotContain("drain").doesNotContain("the paper");
  }

  @Test
  void aLostEventIsNoSuccess() {
    SwitchReport report =
        report(result("one-subscriber", 1, 1, 1, new Integrity(1, 0, 0, 0), 0, null));
    assertThat(report.whole()).isFalse();
    assertThat(verdict(report, "one-subscriber: 0/0/0")).isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(SwitchTable.of(report)).contains("1/0/0").contains("30.33");
  }

  @Test
  void aProblemIsToldAndIsNoSuccess() {
    SwitchReport report =
        report(result("rolling-restart", 1, 1, 1, Integrity.WHOLE, 0, "bus-1 did not <end>"));
    assertThat(report.complete()).isFalse();
    assertThat(verdict(report, "rolling-restart: 0/0/0")).isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(SwitchTable.of(report))
        .contains("rolling-restart failed: bus-1 did not <end>", "stayed 3 times: no room");
    assertThat(SwitchPage.page(report))
        .contains("bus-1 did not &lt;end&gt;", "What &lt;was&gt; done", "<img")
        .doesNotContain("<was>");
  }

  @Test
  void aReportIsReadAsItWasWritten(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("results.json");
    SwitchReport report =
        report(result("drain", 20, 251, 10_000, new Integrity(1, 2, 3, 4), 1, "broke off"));
    ResultsJson.write(file, report, report.targets());
    assertThat(ResultsJson.as(SwitchReport.class, ResultsJson.read(file))).isEqualTo(report);
  }
}
