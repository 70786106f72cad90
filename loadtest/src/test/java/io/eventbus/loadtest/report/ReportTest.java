package io.eventbus.loadtest.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.run.LatencySummary;
import io.eventbus.loadtest.run.PassTimes;
import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.workload.Cluster;
import io.eventbus.loadtest.workload.Slowness;
import io.eventbus.loadtest.workload.Workload;
import java.io.StringReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.InputSource;

class ReportTest {
  private static final Workload WORKLOAD =
      new Workload(
          "w/a",
          "a <workload>",
          1,
          2,
          1,
          128,
          0,
          0,
          4096,
          Duration.ofSeconds(1),
          Duration.ofSeconds(10),
          3,
          1,
          List.of(),
          Slowness.NONE,
          0,
          List.of(),
          Cluster.ALONE,
          false);

  private static RunResult result(
      String driver, int run, long delivered, Integrity integrity, @Nullable String problem) {
    return new RunResult(
        "w/a",
        driver,
        "1.0 & more",
        run,
        "2026-01-01T00:00:00Z",
        10,
        delivered / 2,
        delivered,
        new LatencySummary(
            3,
            200,
            100.0 * run,
            150,
            900,
            1000,
            1100,
            1200,
            List.of(new LatencySummary.Point(50, 100), new LatencySummary.Point(100, 1200))),
        2_000_000,
        -1,
        64 << 20,
        -1,
        integrity,
        0,
        0,
        List.of(delivered / 10, delivered / 10),
        new PassTimes(612, 532, 620.5),
        null,
        problem);
  }

  private static Report report(RunResult... results) {
    return new Report(
        "2026-01-01T00:00:00Z",
        Machine.here(),
        List.of(new Report.AbsentDriver("gone", "install <it>")),
        List.of(WORKLOAD),
        List.of(results));
  }

  @Test
  void figuresAreMediansOfTheRunsThatEnded() {
    Report report =
        report(
            result("x", 1, 1_000, Integrity.WHOLE, null),
            result("y", 1, 7_000, Integrity.WHOLE, null),
            result("x", 2, 9_000_000, Integrity.WHOLE, null),
            result("x", 3, 4_000, Integrity.WHOLE, null),
            result("x", 4, 99, Integrity.WHOLE, "broke off"));
    Summary x = report.summaries().get(0);
    assertThat(x.deliveredPerSecond()).isEqualTo(400);
    assertThat(x.deliveredLeast()).isEqualTo(100);
    assertThat(x.deliveredMost()).isEqualTo(900_000);
    assertThat(x.p50()).isEqualTo(200);
    assertThat(x.serverCpuMicros()).isEqualTo(500);
    assertThat(x.clientCpuMicros()).isEqualTo(-1);
    assertThat(x.runs()).isEqualTo(3);
    assertThat(x.failed()).isEqualTo(1);
    assertThat(report.summaries().get(1).driver()).isEqualTo("y");
    assertThat(report.complete()).isFalse();
    assertThat(report.whole()).isTrue();
  }

  @Test
  void theMedianOfTwoIsTheirMean() {
    Report report =
        report(
            result("x", 1, 1_000, Integrity.WHOLE, null),
            result("x", 2, 3_000, Integrity.WHOLE, null));
    assertThat(report.summaries().get(0).deliveredPerSecond()).isEqualTo(200);
  }

  @Test
  void whatOneRunLostIsNotHiddenByTheMedian() {
    Report report =
        report(
            result("x", 1, 1_000, Integrity.WHOLE, null),
            result("x", 2, 1_000, new Integrity(1, 0, 0, 0), "broke off"),
            result("x", 3, 1_000, Integrity.WHOLE, null));
    assertThat(report.whole()).isFalse();
    assertThat(report.summaries().get(0).integrity()).isEqualTo(new Integrity(1, 0, 0, 0));
    assertThat(ResultTable.of(report)).contains("1/0/0").contains("run 2 failed: broke off");
  }

  @Test
  void theTableIsAligned() {
    String table =
        ResultTable.of(
            report(
                result("x", 1, 1_000, Integrity.WHOLE, null),
                result("longer-name", 1, 40_000_000, Integrity.WHOLE, null)));
    List<String> lines = table.lines().toList();
    assertThat(lines.subList(0, 4)).extracting(String::length).containsOnly(lines.get(0).length());
    assertThat(table).contains("x 1.0 & more, longer-name 1.0 & more; ");
    assertThat(table).contains("4.00 M").contains("gone: absent: install <it>");
  }

  @Test
  void thePageIsWellFormedWhereItIsGenerated() throws Exception {
    String page =
        HtmlReport.page(
            report(
                result("x", 1, 1_000, Integrity.WHOLE, null),
                result("y", 1, 40_000, new Integrity(0, 2, 0, 0), "a < b")));
    assertThat(page)
        .contains("a &lt;workload&gt;")
        .contains("1.0 &amp; more")
        .contains("install &lt;it&gt;")
        .contains("a &lt; b")
        .contains("0/2/0");
    int pictures = 0;
    for (int at = page.indexOf("<svg"); at >= 0; at = page.indexOf("<svg", at + 1)) {
      String svg = page.substring(at, page.indexOf("</svg>", at) + "</svg>".length());
      DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .parse(new InputSource(new StringReader(svg)));
      assertThat(svg).doesNotContain("NaN").doesNotContain("Infinity");
      pictures++;
    }
    assertThat(pictures).isEqualTo(4);
  }

  @Test
  void plotsOfNothingArePlotsAllTheSame() {
    RunResult nothing = RunResult.failed("w/a", "x", "1", 1, "now", "did not start");
    String page = HtmlReport.page(report(nothing));
    assertThat(page).contains("did not start").doesNotContain("NaN").doesNotContain("Infinity");
  }

  @Test
  void aResultIsReadAsItWasWritten(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("run.json");
    RunResult result = result("x", 1, 1_000, new Integrity(1, 2, 3, 4), "broke off");
    ResultsJson.writeRun(file, result);
    assertThat(ResultsJson.readRun(file)).isEqualTo(result);
  }

  @Test
  void figuresHaveThreeDigits() {
    assertThat(Figures.rate(4_049_000)).isEqualTo("4.05 M");
    assertThat(Figures.rate(64_123)).isEqualTo("64.1 k");
    assertThat(Figures.rate(812.4)).isEqualTo("812");
    assertThat(Figures.micros(-1)).isEqualTo("?");
    assertThat(Figures.micros(0.5312)).isEqualTo("0.53");
    assertThat(Figures.mebibytes(64 << 20)).isEqualTo("64.0");
  }
}
