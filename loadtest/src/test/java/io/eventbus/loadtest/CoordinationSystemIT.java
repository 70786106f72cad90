package io.eventbus.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Experiments for a moment, with real processes: the registry and ZooKeeper, which come with the
 * build, and etcd if it happens to be installed.
 */
@Timeout(900)
@Nightly
class CoordinationSystemIT {
  @TempDir private Path output = Path.of("");
  private final StringWriter out = new StringWriter();

  private int run(String... arguments) {
    PrintWriter writer = new PrintWriter(out, true);
    return LoadTest.commandLine(new Drivers())
        .setOut(writer)
        .setErr(writer)
        .execute(
            Stream.concat(
                    Stream.of(
                        "coordination",
                        "--output=" + output,
                        "--data=" + output,
                        "--warm-up=0.2",
                        "--duration=0.3",
                        "--rounds=1"),
                    Stream.of(arguments))
                .toArray(String[]::new));
  }

  @Test
  void closedLoopClientsOfEverySystem() throws Exception {
    assertThat(run("table", "--servers=3", "--clients=2")).as(out::toString).isZero();
    assertThat(out.toString()).contains("registry", "zookeeper", "etcd").doesNotContain("failed:");
    assertThat(Files.readString(output.resolve("report.html"))).contains("coordination/table-3x2");
    assertThat(Files.readString(output.resolve("results.json"))).contains("\"outages\"");
  }

  /** A cluster of three is started once for most of it. */
  @Test
  void everyOtherExperiment() {
    assertThat(
            run(
                "failures",
                "leader-kills",
                "pipelined",
                "transactions",
                "visibility",
                "--servers=3",
                "--clients=2",
                "--kills=1",
                "--pipelines=2",
                "--in-flight=4",
                "--pipelined-duration=0.3",
                "--changes=20",
                "--systems=eventbus"))
        .as(out::toString)
        .isZero();
    assertThat(out.toString())
        .contains(
            "1F-3", "1L-3", "leader-kills", "transactions-3", "coordination/join", "visibility")
        .doesNotContain("failed:");
  }

  @Test
  void anUnknownSystemIsAnErrorOfTheCaller() {
    assertThat(run("table", "--systems=nothing")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(run("tables")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(run("table", "--servers=0")).isEqualTo(LoadTestExitCode.USAGE);
  }
}
