package io.eventbus.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.driver.eventbus.EventBusDriver;
import io.eventbus.loadtest.workload.Workload;
import io.eventbus.loadtest.workload.Workloads;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every workload for a second against a real bus in a process of its own. */
@Timeout(120)
class SmokeSystemIT {
  @TempDir private Path output = Path.of("");
  private final StringWriter out = new StringWriter();

  static Stream<String> workloads() {
    return Workloads.shipped().select("smoke").stream().map(Workload::name);
  }

  @BeforeAll
  static void theBusIsThere() {
    // An absent system would make all of this pass without a bus.
    assertThat(new EventBusDriver(List.of()).availability().present()).isTrue();
  }

  private int run(String... arguments) {
    PrintWriter writer = new PrintWriter(out, true);
    return LoadTest.commandLine(new Drivers())
        .setOut(writer)
        .setErr(writer)
        .execute(
            Stream.concat(
                    Stream.of("run", "--server-jvm=-Xmx256m", "--output=" + output),
                    Stream.of(arguments))
                .toArray(String[]::new));
  }

  @ParameterizedTest
  @MethodSource("workloads")
  void everyEventIsAccountedFor(String workload) throws Exception {
    assertThat(run(workload, "--in-process")).as(out::toString).isEqualTo(ExitCode.OK);
    assertThat(Files.readString(output.resolve("results.json"))).contains("\"summaries\"");
    assertThat(out.toString()).contains("0/0/0").doesNotContain("failed");
  }

  @Test
  void aRunInAJvmOfItsOwn() {
    assertThat(run("one-to-one/smoke", "--client-jvm=-Xmx256m"))
        .as(out::toString)
        .isEqualTo(ExitCode.OK);
  }

  @Test
  void aBrokenBusIsSeen() {
    assertThat(run("one-to-one/smoke", "--in-process", "--break=drop:1000"))
        .as(out::toString)
        .isEqualTo(ExitCode.INTEGRITY);
  }
}
