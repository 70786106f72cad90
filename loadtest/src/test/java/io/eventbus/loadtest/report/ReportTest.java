package io.eventbus.loadtest.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.loadtest.run.IdleCost;
import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.run.LatencySummary;
import io.eventbus.loadtest.run.PassTimes;
import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.workload.Cluster;
import io.eventbus.loadtest.workload.Login;
import io.eventbus.loadtest.workload.Slowness;
import io.eventbus.loadtest.workload.Workload;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
  private static final Pattern IMAGE = Pattern.compile("src=\"data:image/png;base64,([^\"]+)\"");

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
          false,
          Login.NONE,
          0,
          null,
          null);

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
        null,
        null,
        problem);
  }

  private static Report report(RunResult... results) {
    return new Report(
        "2026-01-01T00:00:00Z",
        "loadtest run w",
        Machine.here(),
        results.length,
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

  private static RunResult known(
      int run, long serverCpuMicros, long rss, @Nullable IdleCost idle, Long... eachSecond) {
    return new RunResult(
        "w/a",
        "x",
        "1",
        run,
        "2026-01-01T00:00:00Z",
        1,
        1_000,
        1_000,
        LatencySummary.NONE,
        serverCpuMicros,
        -1,
        rss,
        -1,
        Integrity.WHOLE,
        0,
        0,
        List.of(eachSecond),
        serverCpuMicros < 0 ? null : new PassTimes(10, -1, 10),
        idle,
        null,
        null,
        null);
  }

  @Test
  void whatIsUnknownIsNoFigureOfAMedian() {
    Summary summary =
        report(
                known(1, -1, -1, null),
                known(2, 4_000, 100, new IdleCost(10, 50, -1, 0)),
                known(3, -1, -1, new IdleCost(10, -1, -20, 0)),
                known(4, 6_000, 300, new IdleCost(10, 70, -40, 0)))
            .summaries()
            .get(0);
    assertThat(summary.serverCpuMicros()).isEqualTo(5);
    assertThat(summary.serverRssBytes()).isEqualTo(200);
    assertThat(summary.clientCpuMicros()).isEqualTo(-1);
    assertThat(summary.publisherMillis()).isEqualTo(10);
    assertThat(summary.busMillis()).isEqualTo(-1);
    assertThat(summary.idleConnectsPerSecond()).isEqualTo(60);
    assertThat(summary.idleRssBytes()).isEqualTo(-30);
  }

  @Test
  void aReportIsReadAsItWasWritten(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("results.json");
    Report report =
        report(
            result("x", 1, 1_000, Integrity.WHOLE, null),
            result("x", 2, 1_000, new Integrity(1, 2, 3, 4), "broke off"));
    ResultsJson.write(file, report);
    assertThat(ResultsJson.report(ResultsJson.read(file))).isEqualTo(report);
    // As versions wrote it that had neither.
    ObjectNode tree = (ObjectNode) ResultsJson.read(file);
    tree.remove(List.of("command", "planned"));
    Report older = ResultsJson.report(tree);
    assertThat(older.command()).isEmpty();
    assertThat(older.planned()).isEqualTo(2);
  }

  @Test
  void aReportThatIsNotWholeSaysWhere() {
    ObjectNode tree = JsonNodeFactory.instance.objectNode().put("startedAt", "now");
    tree.putArray("results").addObject().put("workload", "w").put("seconds", "long");
    assertThatThrownBy(() -> ResultsJson.report(tree))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("seconds");
  }

  @Test
  void whatWasStoppedIsNotFinished() {
    RunResult one = result("x", 1, 1_000, Integrity.WHOLE, null);
    Report stopped =
        new Report(
            "now", "loadtest run w", Machine.here(), 3, List.of(), List.of(WORKLOAD), List.of(one));
    assertThat(stopped.complete()).isFalse();
    assertThat(ResultTable.of(stopped)).contains("Not finished: 1 of 3 runs.");
    assertThat(HtmlReport.page(stopped)).contains("Not finished: 1 of 3 runs.");
    assertThat(ResultTable.of(report(one))).doesNotContain("Not finished");
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
    Matcher image = IMAGE.matcher(page);
    int pictures = 0;
    while (image.find()) {
      byte[] png = Base64.getDecoder().decode(image.group(1));
      assertThat(ImageIO.read(new ByteArrayInputStream(png)).getWidth()).isEqualTo(1440);
      pictures++;
    }
    assertThat(pictures).isEqualTo(4);
  }

  @Test
  void measuredTargetsAreSeenAndTheOthersAreFolded() {
    String page = HtmlReport.page(report(result("eventbus", 1, 1_000, Integrity.WHOLE, null)));
    int measured = page.indexOf("integrity: 0/0/0");
    int folded = page.indexOf("<details>");
    assertThat(measured).isPositive().isLessThan(folded);
    assertThat(page.indexOf("not measured")).isGreaterThan(folded);
    assertThat(page).contains("<td class=\"text\">integrity: 0/0/0");
  }

  @Test
  void labelsNinesAsPercentiles() {
    for (String label : List.of("0", "90", "99", "99.9", "99.99", "99.999")) {
      assertThat(Charts.percentile(Charts.nines(Double.parseDouble(label)))).isEqualTo(label);
    }
    assertThat(Charts.nines(100)).isEqualTo(Charts.nines(99.999));
  }

  @Test
  void drawsARunOfOneSecondAndARunWithoutLatencies() {
    List<RunResult> results = List.of(known(1, -1, -1, null, 500L), known(2, -1, -1, null));
    assertThat(Charts.timeline(List.of("x"), results)).startsWith("<img alt=\"Deliveries each");
    assertThat(Charts.latency(List.of("x"), results)).startsWith("<img");
  }

  @Test
  void plotsOfNothingArePlotsAllTheSame() {
    RunResult nothing = RunResult.failed("w/a", "x", "1", 1, "now", "did not start");
    String page = HtmlReport.page(report(nothing));
    assertThat(IMAGE.matcher(page).replaceAll(""))
        .contains("did not start")
        .doesNotContain("NaN")
        .doesNotContain("Infinity");
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
