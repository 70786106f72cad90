package io.eventbus.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.MemoryDriver;
import io.eventbus.loadtest.report.MarkdownPage;
import io.eventbus.loadtest.report.ResultsJson;
import io.eventbus.loadtest.workload.Workload;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class LoadTestTest {
  @TempDir private Path directory = Path.of("");
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private Path workload = Path.of("");

  @BeforeEach
  void writeWorkload() throws Exception {
    workload = directory.resolve("short.yaml");
    Files.writeString(
        workload,
        "{name: short, warmUp: 10ms, duration: 50ms, runs: 2, window: 64, payloadBytes: 64}");
  }

  private int execute(String... args) {
    Drivers drivers = new Drivers();
    drivers.add("memory", options -> new MemoryDriver());
    drivers.add("other", options -> new MemoryDriver());
    drivers.add("failing", options -> failing());
    drivers.add("absent", options -> absent());
    CommandLine line = LoadTest.commandLine(drivers);
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    return line.execute(args);
  }

  private int run(String driver, String... more) {
    String[] args = new String[more.length + 6];
    System.arraycopy(
        new String[] {
          "run",
          workload.toString(),
          "--in-process",
          "--driver=" + driver,
          "--output",
          "" + directory
        },
        0,
        args,
        0,
        6);
    System.arraycopy(more, 0, args, 6, more.length);
    return execute(args);
  }

  private static Driver absent() {
    return new Driver() {
      @Override
      public String name() {
        return "absent";
      }

      @Override
      public Availability availability() {
        return Availability.absent("no such program: install it");
      }

      @Override
      public Session start(Workload w) {
        throw new AssertionError("an absent system was started");
      }
    };
  }

  private static Driver failing() {
    return new Driver() {
      @Override
      public String name() {
        return "failing";
      }

      @Override
      public Availability availability() {
        return Availability.present("1 <beta>");
      }

      @Override
      public Session start(Workload w) {
        throw new DriverException("no port");
      }
    };
  }

  @Test
  void runsAndWritesTableJsonAndPage() throws Exception {
    assertThat(run("memory")).as(err::toString).isEqualTo(LoadTestExitCode.OK);
    assertThat(out.toString()).contains("1 of 2: short, memory, run 1").contains("0/0/0");
    JsonNode json = new ObjectMapper().readTree(directory.resolve("results.json").toFile());
    assertThat(json.path("results")).hasSize(2);
    assertThat(json.path("results").path(0).path("integrity").path("lost").asLong(-1)).isZero();
    assertThat(json.path("summaries").path(0).path("deliveredPerSecond").asDouble()).isPositive();
    assertThat(json.path("machine").path("cores").asInt()).isPositive();
    String html = Files.readString(directory.resolve("report.html"));
    assertThat(html).contains("<img").contains("short").doesNotContain("http");
  }

  @Test
  void callsAreCountedAndTimed() throws Exception {
    Files.writeString(
        workload,
        "{name: short, warmUp: 10ms, duration: 50ms, runs: 2, calls: 4, payloadBytes: 64}");
    assertThat(run("memory")).as(out::toString).isEqualTo(LoadTestExitCode.OK);
    assertThat(out.toString()).contains("calls/s").contains("clients µs/call");
    JsonNode json = new ObjectMapper().readTree(directory.resolve("results.json").toFile());
    assertThat(json.path("results")).hasSize(2);
    assertThat(json.path("results").path(1).path("delivered").asLong()).isPositive();
    assertThat(json.path("results").path(1).path("latency").path("count").asLong()).isPositive();
    assertThat(json.path("results").path(1).path("integrity").path("lost").asLong(-1)).isZero();
  }

  @Test
  void durableTopicsHaveATableOfTheirOwn() throws Exception {
    Files.writeString(
        workload,
        "{name: short, warmUp: 10ms, duration: 50ms, runs: 2, variants: ["
            + "{name: a, durable: {inFlight: 4}},"
            + "{name: b, durable: {operation: replay, events: 1000}},"
            + "{name: c, durable: {operation: tail}, window: 64}]}");
    assertThat(run("memory", "--data", "" + directory)).as(out::toString).isZero();
    assertThat(out.toString().lines().filter(line -> line.endsWith("0/0/0"))).hasSize(3);
    assertThat(out.toString())
        .containsSubsequence("data on ", "Durable topics", "server µs/event", "short/c");
    JsonNode json = new ObjectMapper().readTree(directory.resolve("results.json").toFile());
    assertThat(json.path("workloads").path(0).path("durable").path("data").asText())
        .isEqualTo(directory.toAbsolutePath().toString());
    assertThat(json.path("results").path(1).path("latency").path("count").asLong()).isPositive();
    assertThat(run("memory", "--runs=1", "--break=drop:100")).isEqualTo(LoadTestExitCode.INTEGRITY);
  }

  @Test
  void durableTopicsAreForSystemsThatStoreAndOthersForThoseThatDoNot() throws Exception {
    Files.writeString(workload, "{name: short, warmUp: 10ms, duration: 50ms, durable: {}}");
    assertThat(run("failing")).isEqualTo(LoadTestExitCode.ABSENT);
    assertThat(out.toString()).contains("short: failing has no durable topics: left out");
  }

  @Test
  void systemsWithoutCallsAreLeftOut() throws Exception {
    Files.writeString(workload, "{name: short, warmUp: 10ms, duration: 50ms, calls: 4}");
    assertThat(run("failing")).isEqualTo(LoadTestExitCode.ABSENT);
    assertThat(out.toString()).contains("short: failing has no calls: left out");
  }

  @Test
  void baselineThatIsNotThereIsRefused() {
    assertThat(run("memory", "--baseline", directory.resolve("none.jar").toString()))
        .isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("--baseline").contains("expected: a file");
  }

  @Test
  void roundsBeginWithTheNextSystem() {
    assertThat(run("memory,other", "--runs", "2")).isEqualTo(LoadTestExitCode.OK);
    assertThat(out.toString())
        .containsSubsequence(
            "1 of 4: short, memory, run 1",
            "2 of 4: short, other, run 1",
            "3 of 4: short, other, run 2",
            "4 of 4: short, memory, run 2");
  }

  @Test
  void brokenDeliveriesEndWithFour() {
    for (String fault : new String[] {"drop:100", "double:100", "swap:100"}) {
      assertThat(run("memory", "--runs=1", "--break", fault))
          .as(fault)
          .isEqualTo(LoadTestExitCode.INTEGRITY);
    }
  }

  @Test
  void anAbsentSystemIsToldAndIsNoResult() throws Exception {
    assertThat(run("absent")).isEqualTo(LoadTestExitCode.ABSENT);
    assertThat(out.toString()).contains("absent: absent: no such program: install it");
    assertThat(Files.readString(directory.resolve("report.html"))).contains("no such program");
    assertThat(run("absent,memory", "--runs=1")).isEqualTo(LoadTestExitCode.OK);
  }

  @Test
  void aSystemThatFailsEndsWithOne() throws Exception {
    assertThat(run("failing")).isEqualTo(LoadTestExitCode.FAILED);
    assertThat(out.toString()).contains("short, failing, run 1 failed: DriverException: no port");
    assertThat(Files.readString(directory.resolve("report.html")))
        .contains("1 &lt;beta&gt;")
        .doesNotContain("<beta>");
  }

  @Test
  void wrongArgumentsEndWithTwo() {
    assertThat(run("nobody")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("driver: nobody (expected: eventbus, ");
    assertThat(run("memory", "--runs=0")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(run("memory", "--break=lose:3")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("fault: lose:3 (expected: drop:n");
    assertThat(execute("run", "no-such-workload")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("workload: no-such-workload (expected: ");
    assertThat(execute("run")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("WORKLOAD: absent (expected: one, or --all)");
    assertThat(execute()).isEqualTo(LoadTestExitCode.USAGE);
  }

  @Test
  void aTimeOutOfItsRangeEndsWithTwo() {
    for (String value : new String[] {"-1", "0", "0.0001", "NaN", "86401"}) {
      assertThat(run("memory", "--duration=" + value)).as(value).isEqualTo(LoadTestExitCode.USAGE);
    }
    assertThat(err.toString())
        .contains("--duration: -1 (expected: 0.001 to 86400 seconds)")
        .contains("--duration: NaN (expected: ")
        .doesNotContain("Exception");
    assertThat(run("memory", "--warm-up=-0.5")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("--warm-up: -0.5 (expected: 0 to 3600 seconds)");
    assertThat(run("memory", "--runs=1001")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("--runs: 1001 (expected: 1..1000)");
    assertThat(execute("switch", "one", "--warm-up=-1")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("--warm-up: -1 (expected: 0 to 3600 seconds)");
    assertThat(execute("coordination", "table", "--recovery-warm-up=-1"))
        .isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("--recovery-warm-up: -1 (expected: 0 to 3600 seconds)");
  }

  @Test
  void anOutputThatIsNoDirectoryEndsWithTwoBeforeAnythingRuns() {
    assertThat(
            execute(
                "run",
                workload.toString(),
                "--in-process",
                "--driver=memory",
                "--output=" + workload))
        .isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("--output: " + workload + " (expected: a directory)");
    assertThat(out.toString()).doesNotContain("1 of 2");
  }

  @Test
  void resultsAreWrittenAfterEveryRun() throws Exception {
    List<Integer> seen = new ArrayList<>();
    MemoryDriver memory = new MemoryDriver();
    Drivers drivers = new Drivers();
    drivers.add(
        "looking",
        options ->
            new Driver() {
              @Override
              public String name() {
                return "looking";
              }

              @Override
              public Availability availability() {
                return memory.availability();
              }

              @Override
              public Session start(Workload w) {
                try {
                  Path file = directory.resolve("results.json");
                  // Older results stay until there are new ones.
                  seen.add(Files.exists(file) ? ResultsJson.read(file).path("results").size() : -1);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
                return memory.start(w);
              }
            });
    int code =
        LoadTest.commandLine(drivers)
            .setOut(new PrintWriter(out, true))
            .execute(
                "run",
                workload.toString(),
                "--in-process",
                "--driver=looking",
                "--runs=3",
                "--output=" + directory);
    assertThat(code).isEqualTo(LoadTestExitCode.OK);
    assertThat(seen).containsExactly(-1, 1, 2);
  }

  @Test
  void aResultFileIsShownAgain() throws Exception {
    assertThat(run("memory")).isEqualTo(LoadTestExitCode.OK);
    Path page = directory.resolve("report.html");
    String before = Files.readString(page);
    Files.delete(page);
    out.getBuffer().setLength(0);
    Path json = directory.resolve("results.json");
    assertThat(execute("report", json.toString())).as(err::toString).isEqualTo(LoadTestExitCode.OK);
    assertThat(Files.readString(page)).isEqualTo(before);
    assertThat(out.toString()).contains("0/0/0").contains("Written: " + page);
    Path other = directory.resolve("other.html");
    assertThat(execute("report", json.toString(), "--html=" + other))
        .isEqualTo(LoadTestExitCode.OK);
    assertThat(Files.readString(other)).isEqualTo(before);
  }

  @Test
  void aFileThatHoldsNoResultsEndsWithTwo() throws Exception {
    Path file = directory.resolve("other.json");
    assertThat(execute("report", file.toString())).isEqualTo(LoadTestExitCode.USAGE);
    for (String text : new String[] {"", "[]", "{}", "{", "{\"workloads\": 3}"}) {
      Files.writeString(file, text);
      assertThat(execute("report", file.toString())).as(text).isEqualTo(LoadTestExitCode.USAGE);
    }
    assertThat(err.toString()).contains("FILE: " + file + " (expected: a result file)");
  }

  @Test
  void aDocumentIsMadeFromResultFiles() throws Exception {
    assertThat(run("memory")).isEqualTo(LoadTestExitCode.OK);
    Path json = directory.resolve("results.json");
    Path document = directory.resolve("page.md");
    Files.writeString(document, MarkdownPage.BEGIN + "\n" + MarkdownPage.END + "\n");
    String into = "--into=" + document;
    Path medians = directory.resolve("medians.json");
    assertThat(execute("page", json.toString(), into, "--medians=" + medians))
        .as(err::toString)
        .isEqualTo(LoadTestExitCode.OK);
    assertThat(Files.readString(document))
        .contains("$L run " + workload)
        .contains("| short | memory |")
        .contains("[The medians with all digits](medians.json)");
    assertThat(Files.readAllLines(medians))
        .hasSize(3)
        .element(1)
        .asString()
        .startsWith("{\"workload\":\"short\",\"driver\":\"memory\"");
    assertThat(execute("page", json.toString())).isEqualTo(LoadTestExitCode.OK);
    assertThat(out.toString()).contains("| short | memory |");
    Files.writeString(document, "");
    assertThat(execute("page", json.toString(), into)).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("--into: " + document + ": marks: absent");
  }

  @Test
  void thePageOfBenchmarksCanTakeFigures() throws Exception {
    Path page = Path.of("..", "docs", "benchmarks.md");
    assertThat(MarkdownPage.into(Files.readString(page), "figures")).contains("figures");
  }

  @Test
  void theChartInTheDocumentsIsDrawnFromTheirMedians() throws Exception {
    Path documents = Path.of("..", "docs");
    String medians = documents.resolve("benchmarks").resolve("medians.json").toString();
    Path chart = directory.resolve("chart.svg");
    assertThat(execute("chart", medians, "--into=" + chart))
        .as(err::toString)
        .isEqualTo(LoadTestExitCode.OK);
    assertThat(Files.readString(chart))
        .isEqualTo(Files.readString(documents.resolve("images").resolve("throughput.svg")));
    assertThat(execute("chart", medians, "fan-out/1000", "--into=" + chart)).isZero();
    assertThat(Files.readString(chart)).contains(">fan-out/1000<").doesNotContain("one-to-one");
  }

  @Test
  void aChartOfWhatWasNotMeasuredEndsWithTwo() throws Exception {
    String into = "--into=" + directory.resolve("chart.svg");
    Path file = directory.resolve("medians.json");
    Files.writeString(file, "[]");
    assertThat(execute("chart", file.toString(), "none", into)).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("WORKLOAD: none (expected: one that " + file + " has)");
    Files.writeString(file, "{}");
    assertThat(execute("chart", file.toString(), into)).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("FILE: " + file + " (expected: medians)");
  }

  @Test
  void listsFamiliesAndSystems() {
    assertThat(execute("list")).isEqualTo(LoadTestExitCode.OK);
    assertThat(out.toString())
        .contains("one-to-one", "16B, 128B")
        .contains("federation-shape", " more")
        .contains("absent: no such program: install it");
    assertThat(out.toString().lines()).hasSizeLessThan(60);
  }

  @Test
  void listsTheWorkloadsOfAFamily() {
    assertThat(execute("list", "one-to-one", "federation-shape/B-C-*"))
        .isEqualTo(LoadTestExitCode.OK);
    assertThat(out.toString())
        .contains("one-to-one/128B", "1 -> 1, 1 topic, 128 B")
        .contains("federation-shape/B-C-64B")
        .doesNotContain("Systems", "fan-out");
    assertThat(execute("list", "none")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(err.toString()).contains("workload: none (expected: ");
  }

  @Test
  void workloadsThatAreComparedTakeTurns() throws Exception {
    Files.writeString(
        workload,
        "{name: f, warmUp: 10ms, duration: 20ms, runs: 2, window: 64, takeTurns: true,"
            + " variants: [{name: a}, {name: b, runs: 1}]}");
    assertThat(run("memory")).as(err::toString).isZero();
    assertThat(out.toString())
        .containsSubsequence(
            "1 of 3: f/a, memory, run 1",
            "2 of 3: f/b, memory, run 1",
            "3 of 3: f/a, memory, run 2");
  }

  @Test
  void aSystemOfOneServerIsLeftOutWhereThereAreSeveral() throws Exception {
    Files.writeString(
        workload,
        "{name: f, warmUp: 10ms, duration: 20ms, runs: 1, window: 64,"
            + " variants: [{name: one}, {name: two, cluster: {servers: 2}}]}");
    assertThat(run("memory")).as(err::toString).isZero();
    assertThat(out.toString())
        .contains("1 of 1: f/one, memory, run 1", "f/two: memory has no clusters");
  }

  @Test
  void aSystemWithoutAnyWorkloadIsLeftOutInOneLine() throws Exception {
    Files.writeString(
        workload,
        "{name: f, warmUp: 10ms, duration: 20ms, runs: 1, variants:"
            + " [{name: a, calls: 1}, {name: b, calls: 2}]}");
    assertThat(run("failing")).isEqualTo(LoadTestExitCode.ABSENT);
    assertThat(out.toString())
        .contains("failing: no workload is for it: left out")
        .doesNotContain("f/a: failing");
  }
}
