package io.eventbus.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.MemoryDriver;
import io.eventbus.loadtest.workload.Workload;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
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
    assertThat(run("memory")).as(err::toString).isEqualTo(ExitCode.OK);
    assertThat(out.toString()).contains("1 of 2: short, memory, run 1").contains("0/0/0");
    JsonNode json = new ObjectMapper().readTree(directory.resolve("results.json").toFile());
    assertThat(json.path("results")).hasSize(2);
    assertThat(json.path("results").path(0).path("integrity").path("lost").asLong(-1)).isZero();
    assertThat(json.path("summaries").path(0).path("deliveredPerSecond").asDouble()).isPositive();
    assertThat(json.path("machine").path("cores").asInt()).isPositive();
    String html = Files.readString(directory.resolve("report.html"));
    assertThat(html).contains("<svg").contains("short").doesNotContain("http");
  }

  @Test
  void takesTurnsBetweenSystems() {
    assertThat(run("memory,other", "--runs", "2")).isEqualTo(ExitCode.OK);
    assertThat(out.toString())
        .containsSubsequence(
            "1 of 4: short, memory, run 1",
            "2 of 4: short, other, run 1",
            "3 of 4: short, memory, run 2",
            "4 of 4: short, other, run 2");
  }

  @Test
  void brokenDeliveriesEndWithFour() {
    for (String fault : new String[] {"drop:100", "double:100", "swap:100"}) {
      assertThat(run("memory", "--runs=1", "--break", fault))
          .as(fault)
          .isEqualTo(ExitCode.INTEGRITY);
    }
  }

  @Test
  void anAbsentSystemIsToldAndIsNoResult() throws Exception {
    assertThat(run("absent")).isEqualTo(ExitCode.ABSENT);
    assertThat(out.toString()).contains("absent: absent: no such program: install it");
    assertThat(Files.readString(directory.resolve("report.html"))).contains("no such program");
    assertThat(run("absent,memory", "--runs=1")).isEqualTo(ExitCode.OK);
  }

  @Test
  void aSystemThatFailsEndsWithOne() throws Exception {
    assertThat(run("failing")).isEqualTo(ExitCode.FAILED);
    assertThat(out.toString()).contains("short, failing, run 1 failed: DriverException: no port");
    assertThat(Files.readString(directory.resolve("report.html")))
        .contains("1 &lt;beta&gt;")
        .doesNotContain("<beta>");
  }

  @Test
  void wrongArgumentsEndWithTwo() {
    assertThat(run("nobody")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("driver: nobody (expected: eventbus, ");
    assertThat(run("memory", "--runs=0")).isEqualTo(ExitCode.USAGE);
    assertThat(run("memory", "--break=lose:3")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("fault: lose:3 (expected: drop:n");
    assertThat(execute("run", "no-such-workload")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("workload: no-such-workload (expected: ");
    assertThat(execute("run")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("WORKLOAD: absent (expected: one, or --all)");
    assertThat(execute()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void listsWorkloadsAndSystems() {
    assertThat(execute("list")).isEqualTo(ExitCode.OK);
    assertThat(out.toString())
        .contains("one-to-one/128B")
        .contains("absent: no such program: install it");
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
}
