package io.eventbus.loadtest.coordination.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.coordination.run.CoordinationIntegrity;
import io.eventbus.loadtest.coordination.run.Disk;
import io.eventbus.loadtest.coordination.run.FleetResult;
import io.eventbus.loadtest.coordination.run.PhaseResult;
import io.eventbus.loadtest.coordination.run.Plan;
import io.eventbus.loadtest.report.Machine;
import io.eventbus.loadtest.report.ResultsJson;
import io.eventbus.loadtest.run.LatencySummary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CoordinationReportTest {
  private static final Plan PLAN =
      new Plan(
          List.of(3),
          List.of(10),
          120,
          Duration.ofSeconds(1),
          Duration.ofSeconds(1),
          2,
          10,
          32,
          Duration.ofSeconds(1),
          1,
          1,
          Duration.ZERO,
          null);

  private static PhaseResult phase(String experiment, String system, int round, long operations) {
    return new PhaseResult(
        experiment,
        system,
        3,
        10,
        1,
        round,
        1,
        operations,
        new LatencySummary(operations, 500, 400, 900, 1_000, 2_000, 3_000, 4_000, List.of()),
        operations / 10,
        7,
        3,
        Map.of("x", 1L),
        0,
        0,
        100,
        100,
        List.of(operations));
  }

  private static CoordinationReport report(CoordinationIntegrity integrity) {
    return report(integrity, "");
  }

  private static CoordinationReport report(CoordinationIntegrity integrity, String warning) {
    return new CoordinationReport(
        "2026-01-01T00:00:00Z",
        "loadtest coordination",
        Machine.here(),
        new Disk("disk", 0.5, warning),
        Map.of("eventbus", "1", "zookeeper", "2 <b>"),
        Map.of("etcd", "no program etcd"),
        PLAN,
        List.of(
            phase("warm-up", "eventbus", 0, 1),
            phase("table", "eventbus", 1, 100),
            phase("table", "zookeeper", 1, 100),
            phase("table", "eventbus", 2, 300),
            phase("table", "zookeeper", 2, 60),
            phase("1F", "eventbus", 1, 50),
            phase("leader-kill", "eventbus", 1, 5_000),
            phase("leader-kill", "eventbus", 2, 9_000)),
        List.of(new FleetResult("table", "eventbus", 3, integrity, 0.5)),
        List.of(),
        List.of(),
        List.of());
  }

  @Test
  void ratiosAreOfMedians() {
    List<Group> groups = report(CoordinationIntegrity.NONE).groups();
    Group zookeeper =
        groups.stream().filter(g -> g.system().equals("zookeeper")).findFirst().orElseThrow();
    // 200 to 80.
    assertThat(CoordinationTable.ratio(groups, zookeeper)).isEqualTo("2.50");
  }

  @Test
  void quantilesAreNearestRanks() {
    double[] sorted = {1, 2, 3, 4};
    assertThat(Group.quantile(sorted, 0.5)).isEqualTo(2.5);
    assertThat(Group.quantile(sorted, 0.99)).isEqualTo(4);
    assertThat(Group.quantile(new double[] {1, 2, 3}, 0.5)).isEqualTo(2);
    assertThat(Group.quantile(new double[0], 0.5)).isZero();
  }

  @Test
  void whatIsAbsentIsNamed() {
    assertThat(CoordinationTable.of(report(CoordinationIntegrity.NONE)))
        .contains("etcd: absent: no program etcd");
    assertThat(CoordinationPage.page(report(CoordinationIntegrity.NONE)))
        .contains("etcd: absent: no program etcd");
  }

  @Test
  void aWarningAboutTheDiskIsEverywhere() {
    CoordinationReport report = report(CoordinationIntegrity.NONE, "on paper");
    assertThat(CoordinationTable.of(report)).contains("WARNING: on paper");
    assertThat(CoordinationPage.page(report)).contains("on paper");
  }

  @Test
  void leaderChangesOfFailuresAreShown() {
    assertThat(CoordinationTable.of(report(CoordinationIntegrity.NONE)))
        .containsSubsequence("Servers killed", "leader changes", "late", "1F, 3 servers");
  }

  @Test
  void thePageIsWholeAndSafe() {
    assertThat(CoordinationPage.page(report(CoordinationIntegrity.NONE)))
        .contains("Throughput, 3 servers")
        .contains("Mean latency, 3 servers")
        .contains("1F, 3 servers")
        .contains("2 &lt;b&gt;")
        .endsWith("</html>\n");
  }

  @Test
  void aLostOrDoubledCommandOfOursIsSeen() {
    assertThat(report(new CoordinationIntegrity(5, 0, 0, 0)).whole()).isTrue();
    assertThat(report(new CoordinationIntegrity(5, 1, 0, 0)).whole()).isFalse();
    assertThat(report(new CoordinationIntegrity(5, 0, 1, 0)).whole()).isFalse();
    assertThat(report(new CoordinationIntegrity(5, 0, 0, 1)).whole()).isFalse();
  }

  @Test
  void theJsonHasEveryPhase(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("results.json");
    ResultsJson.write(file, report(CoordinationIntegrity.NONE));
    assertThat(Files.readString(file)).contains("\"perSecond\"", "\"eachTenth\"", "PT1S");
  }

  @Test
  void aReportIsReadAsItWasWritten(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("results.json");
    CoordinationReport report = report(new CoordinationIntegrity(5, 1, 0, 0), "no disk");
    ResultsJson.write(file, report);
    assertThat(ResultsJson.as(CoordinationReport.class, ResultsJson.read(file))).isEqualTo(report);
  }
}
