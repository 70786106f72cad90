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

/** Clients that change the bus, for a moment, with real processes. */
@Timeout(900)
@Nightly
class SwitchSystemIT {
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
                        "switch",
                        "--output=" + output,
                        "--warm-up=0",
                        "--warm-up-moves=0",
                        "--server-jvm=-Xmx256m"),
                    Stream.of(arguments))
                .toArray(String[]::new));
  }

  @Test
  void aBusIsDrained() throws Exception {
    assertThat(run("drain", "--clients=20", "--rounds=2")).as(out::toString).isZero();
    assertThat(out.toString())
        .contains("20 clients went", "0/0/0", "drain: all clients gone")
        .doesNotContain("failed:");
    assertThat(Files.readString(output.resolve("report.html"))).contains("pause without a move");
    assertThat(Files.readString(output.resolve("results.json"))).contains("\"targets\"");
  }

  @Test
  void whatIsBrokenIsSeen() {
    assertThat(run("hot-topic", "--hot-subscribers=5", "--rounds=1", "--break=drop:50"))
        .as(out::toString)
        .isEqualTo(LoadTestExitCode.INTEGRITY);
    assertThat(out.toString()).contains("NOT reached");
  }

  @Test
  void aBusIsDrainedOfAThousandClients() {
    assertThat(run("drain", "--rounds=1")).as(out::toString).isZero();
    assertThat(out.toString()).contains("1000 clients went", "0/0/0").doesNotContain("failed:");
  }

  /** Most of it is waiting for buses to start. */
  @Test
  void everyOtherExperiment() {
    assertThat(run("one", "rolling-restart", "kill", "--moves=10", "--members=30", "--kills=1"))
        .as(out::toString)
        .isZero();
    assertThat(out.toString())
        .contains("one-subscriber", "one-publisher", "all restarted", "bus 0 killed")
        .doesNotContain("failed:");
  }

  @Test
  void wrongArgumentsAreAnErrorOfTheCaller() {
    assertThat(run("drains")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(run("drain", "--clients=1")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(run("drain", "--rounds=7")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(run("one", "--break=all")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(out.toString())
        .contains(
            "EXPERIMENT: drains (expected: one, hot-topic, drain, rolling-restart or kill)",
            "--clients: 1 (expected: 2..10000)");
  }
}
