package io.eventbus.loadtest.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.run.IdleCost;
import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.run.LatencySummary;
import io.eventbus.loadtest.run.PassTimes;
import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.workload.Workload;
import io.eventbus.loadtest.workload.Workloads;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SpeedTargetsTest {
  private static RunResult result(
      String workload,
      String driver,
      long delivered,
      double latency,
      Integrity integrity,
      @Nullable PassTimes pass,
      @Nullable IdleCost idle) {
    return new RunResult(
        workload,
        driver,
        "1",
        1,
        "2026-01-01T00:00:00Z",
        1,
        delivered,
        delivered,
        new LatencySummary(
            1, latency, latency, latency, latency, latency, latency, latency, List.of()),
        1_000_000,
        1_000_000,
        64 << 20,
        64 << 20,
        integrity,
        0,
        0,
        List.of(delivered),
        pass,
        idle,
        null,
        null,
        null);
  }

  private static RunResult result(String workload, String driver, long delivered, double latency) {
    return result(workload, driver, delivered, latency, Integrity.WHOLE, null, null);
  }

  private static RunResult idle(String driver, double bytes, long lost) {
    Integrity integrity = new Integrity(lost, 0, 0, 0);
    IdleCost cost = new IdleCost(10_000, 4_800, bytes, lost);
    return result("idle/10000", driver, 0, 0, integrity, null, cost);
  }

  private static Report report(RunResult... results) {
    Workloads shipped = Workloads.shipped();
    List<Workload> workloads =
        Arrays.stream(results)
            .map(RunResult::workload)
            .distinct()
            .map(name -> shipped.select(name).get(0))
            .toList();
    return new Report(
        "2026-01-01T00:00:00Z",
        "loadtest run",
        Machine.here(),
        results.length,
        List.of(),
        workloads,
        List.of(results));
  }

  private static SpeedTarget target(Report report, String start) {
    return report.targets().stream()
        .filter(t -> t.goal().startsWith(start))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void throughputIsComparedInOneReport() {
    Report report =
        report(
            result("one-to-one/128B", "eventbus", 3_000_000, 1),
            result("one-to-one/128B", "nats", 1_000_000, 1),
            result("one-to-one/128B", "tyrus-paper", 200_000, 1));
    SpeedTarget reached = target(report, "one-to-one/128B: >= 3.00 x nats");
    assertThat(reached.verdict()).isEqualTo(SpeedTarget.Verdict.REACHED);
    assertThat(reached.figure()).isEqualTo("3.00 x (3.00 M : 1.00 M)");
    assertThat(target(report, "one-to-one/128B: >= 20.00 x tyrus-paper").verdict())
        .isEqualTo(SpeedTarget.Verdict.MISSED);
  }

  @Test
  void whatIsMissingIsSaidAndIsNoSuccess() {
    Report report = report(result("one-to-one/128B", "eventbus", 3_000_000, 1));
    SpeedTarget target = target(report, "one-to-one/128B: >= 3.00 x nats");
    assertThat(target)
        .isEqualTo(
            new SpeedTarget(
                "one-to-one/128B: >= 3.00 x nats",
                "no figure of nats",
                SpeedTarget.Verdict.NOT_MEASURED));
    assertThat(target(report, "idle/10000").verdict()).isEqualTo(SpeedTarget.Verdict.NOT_MEASURED);
    assertThat(target(report, "routing").verdict()).isEqualTo(SpeedTarget.Verdict.NOT_MEASURED);
  }

  @Test
  void durableTopicsAreComparedWithJetStream() {
    Report report =
        report(
            result("durable-publish/4096", "eventbus", 300_000, 9_000),
            result("durable-publish/4096", "jetstream", 100_000, 9_000),
            result("durable-publish/4096", "jetstream-always", 7_000, 9_000),
            result("durable-publish/serial", "eventbus", 2_000, 500),
            result("durable-publish/serial", "jetstream-always", 2_000, 450),
            result("durable-replay/128B", "eventbus", 1_600_000, 0));
    assertThat(target(report, "durable-publish/4096: >= 400 k/s").verdict())
        .isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(target(report, "durable-publish/4096: >= 3.00 x jetstream"))
        .isEqualTo(
            new SpeedTarget(
                "durable-publish/4096: >= 3.00 x jetstream",
                "3.00 x (300 k : 100 k)",
                SpeedTarget.Verdict.REACHED));
    assertThat(target(report, "durable-publish/4096: >= 50.00 x jetstream-always").verdict())
        .isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(target(report, "durable-publish/serial: p50 <= 600 µs").verdict())
        .isEqualTo(SpeedTarget.Verdict.REACHED);
    assertThat(target(report, "durable-publish/serial: p50 <= 1.00 x jetstream-always"))
        .isEqualTo(
            new SpeedTarget(
                "durable-publish/serial: p50 <= 1.00 x jetstream-always",
                "1.11 x (500 : 450 µs)",
                SpeedTarget.Verdict.MISSED));
    assertThat(target(report, "durable-replay/128B: >= 1.50 M/s").verdict())
        .isEqualTo(SpeedTarget.Verdict.REACHED);
    assertThat(target(report, "durable-replay/128B: >= 5.00 x").verdict())
        .isEqualTo(SpeedTarget.Verdict.NOT_MEASURED);
    assertThat(target(report, "durable-tail/100").verdict())
        .isEqualTo(SpeedTarget.Verdict.NOT_MEASURED);
  }

  @Test
  void theFasterOfNatsClientsIsWhatCounts() {
    Report report =
        report(
            result("fan-out/1000", "eventbus", 1_000_000, 1),
            result("fan-out/1000", "nats", 100_000, 1),
            result("fan-out/1000", "nats-nio", 800_000, 1));
    assertThat(target(report, "fan-out/1000: >= 2.00 x nats"))
        .isEqualTo(
            new SpeedTarget(
                "fan-out/1000: >= 2.00 x nats",
                "1.25 x (1.00 M : 800 k)",
                SpeedTarget.Verdict.MISSED));
  }

  @Test
  void latencyHasToBeLower() {
    Report report =
        report(
            result("latency/10k", "eventbus", 10_000, 140),
            result("latency/10k", "nats", 10_000, 100),
            result("latency/10k", "tyrus-paper", 10_000, 1401));
    assertThat(target(report, "latency/10k: p50 <= 1.00 x nats").verdict())
        .isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(target(report, "latency/10k: p99.9 <= 1.50 x nats").verdict())
        .isEqualTo(SpeedTarget.Verdict.REACHED);
    assertThat(target(report, "latency/10k: p50 <= 0.10 x tyrus-paper").verdict())
        .isEqualTo(SpeedTarget.Verdict.REACHED);
  }

  @Test
  void idleConnectionsHaveABoundOfTheirOwn() {
    Report report = report(idle("eventbus", 6200, 0), idle("nats", 48_000, 0));
    assertThat(target(report, "idle/10000: RSS of each <= 6 KiB"))
        .isEqualTo(
            new SpeedTarget(
                "idle/10000: RSS of each <= 6 KiB", "6.05 KiB", SpeedTarget.Verdict.MISSED));
    assertThat(target(report, "idle/10000: RSS of each <= 1.00 x nats").verdict())
        .isEqualTo(SpeedTarget.Verdict.REACHED);
    assertThat(ResultTable.of(report)).contains("Idle connections").contains("46.9");
  }

  @Test
  void aSystemThatCannotHoldThemIsAFailureAndNoFigure() {
    Report report =
        report(
            idle("eventbus", 6000, 0),
            RunResult.failed("idle/10000", "nats", "1", 1, "now", "no more file descriptors"));
    assertThat(ResultTable.idle(report)).hasSize(2);
    assertThat(ResultTable.of(report)).contains("0 of 1").contains("no more file descriptors");
    assertThat(target(report, "idle/10000: RSS of each <= 1.00").verdict())
        .isEqualTo(SpeedTarget.Verdict.NOT_MEASURED);
  }

  @Test
  void oneFaultAnywhereMissesIntegrity() {
    Report whole = report(idle("eventbus", 1, 0), result("latency/10k", "eventbus", 1, 1));
    assertThat(target(whole, "integrity").verdict()).isEqualTo(SpeedTarget.Verdict.REACHED);
    Report broken = report(idle("eventbus", 1, 1), result("latency/10k", "eventbus", 1, 1));
    assertThat(target(broken, "integrity").verdict()).isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(target(broken, "integrity").figure()).contains("idle/10000 1/0/0");
  }

  @Test
  void everyFigureOfThePaperHasALine() {
    PassTimes pass = new PassTimes(61.2, 53.2, 62);
    PassTimes unknown = new PassTimes(70, -1, 71);
    Report report =
        report(
            result("paper/1000", "eventbus", 1000, 1, Integrity.WHOLE, pass, null),
            result("paper/1000", "nats", 1000, 1, Integrity.WHOLE, unknown, null),
            result("paper/rate-3000", "eventbus", 1000, 186));
    assertThat(PaperTable.rows(report))
        .containsExactly(
            List.of("milliseconds", "the paper", "eventbus", "nats"),
            List.of("1,000 messages, at the publisher", "612", "61.2", "70.0"),
            List.of("1,000 messages, at the bus", "532", "53.2", "?"),
            List.of("10,000 messages, at the publisher", "3,541", "-", "-"),
            List.of("10,000 messages, at the bus", "3,058", "-", "-"),
            List.of("100,000 messages, at the publisher", "33,071", "-", "-"),
            List.of("100,000 messages, at the bus", "33,040", "-", "-"),
            List.of("mean latency at 3,000/s", "18.6", "0.19", "-"));
  }

  @Test
  void aSecondBusIsComparedWithOne() {
    Report report =
        report(
            result("federation-hop/one-bus", "eventbus", 1_000_000, 1),
            result("federation-hop/two-buses", "eventbus", 590_000, 1),
            result("federation-hop/two-buses", "nats", 290_000, 1),
            result("federation-hop/one-bus-10k", "eventbus", 10_000, 120),
            result("federation-hop/two-buses-10k", "eventbus", 10_000, 220));
    assertThat(target(report, "federation-hop/two-buses: >= 0.60 x federation-hop/one-bus"))
        .isEqualTo(
            new SpeedTarget(
                "federation-hop/two-buses: >= 0.60 x federation-hop/one-bus",
                "0.59 x (590 k : 1.00 M)",
                SpeedTarget.Verdict.MISSED));
    assertThat(target(report, "federation-hop/two-buses: >= 2.00 x nats").verdict())
        .isEqualTo(SpeedTarget.Verdict.REACHED);
    assertThat(target(report, "federation-hop/two-buses-10k: p50").verdict())
        .isEqualTo(SpeedTarget.Verdict.REACHED);
    assertThat(target(report, "federation-hop/two-buses-10k: p50").figure())
        .isEqualTo("100.0 µs (220 - 120)");
  }

  @Test
  void rulesAreComparedWithNone() {
    Report report =
        report(
            result("permissions/none", "eventbus", 1_000_000, 1),
            result("permissions/roles", "eventbus", 970_000, 1));
    assertThat(target(report, "permissions/roles: >= 0.98 x permissions/none events/s"))
        .isEqualTo(
            new SpeedTarget(
                "permissions/roles: >= 0.98 x permissions/none events/s",
                "0.970 x (970 k : 1.00 M)",
                SpeedTarget.Verdict.MISSED));
    assertThat(target(report, "connects/es256: >= 0.80 x connects/none connects/s").verdict())
        .isEqualTo(SpeedTarget.Verdict.NOT_MEASURED);
  }

  @Test
  void manyConsumersAreComparedWithFewer() {
    Report report =
        report(
            result("federation-shape/B-4C-64B", "eventbus", 1_000, 1),
            result("federation-shape/B-8C-64B", "eventbus", 799, 1),
            result("federation-shape/B-8C-64KiB", "eventbus", 10_000, 1));
    assertThat(target(report, "federation-shape/B-8C-64B: >= 0.80 x").verdict())
        .isEqualTo(SpeedTarget.Verdict.MISSED);
    assertThat(target(report, "federation-shape/B-8C-64KiB: >= 0.80 x").verdict())
        .isEqualTo(SpeedTarget.Verdict.NOT_MEASURED);
    assertThat(FederationTable.rows(report))
        .containsExactly(
            List.of("shape", "figure", "the paper", "eventbus"),
            List.of("B-8C", "64 B: messages/s", "2,570", "799"),
            List.of("B-8C", "64 B: deliveries/s", "", "799"),
            List.of("B-8C", "64KiB: MB/s to consumers", "532", "655"));
  }
}
