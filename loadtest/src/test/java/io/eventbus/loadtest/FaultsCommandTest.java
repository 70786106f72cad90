package io.eventbus.loadtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FaultsCommandTest {
  @TempDir private Path directory = Path.of("");
  private final StringWriter out = new StringWriter();

  private int run(String... arguments) {
    PrintWriter writer = new PrintWriter(out, true);
    return LoadTest.commandLine(new Drivers()).setOut(writer).setErr(writer).execute(arguments);
  }

  private int durable(String argument) {
    return run("faults", "durable", "--data=" + directory, argument);
  }

  @Test
  void wrongArgumentsAreAnErrorOfTheCaller() {
    assertThat(run("faults")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(durable("--replicas=2")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(durable("--faults=kil")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(durable("--faults=drain")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(durable("--seconds=0")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(durable("--rate=0")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(run("faults", "power-loss", "--rounds=0")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(run("faults", "power-loss", "--drivers=nats")).isEqualTo(LoadTestExitCode.USAGE);
    assertThat(out.toString())
        .contains(
            "command: absent (expected: durable or power-loss)",
            "--replicas: 2 (expected: 1 or 3)",
            "--faults: kil (expected: kill, kill-leader, kill-all, pause, slow-fsync, full-disk,"
                + " power-loss, power-loss-all, partition, drain,"
                + " failing-fsync, bit-flip)",
            "--faults: drain (expected: --replicas 3)",
            "--seconds: 0 (expected: 1 to 86400 seconds)",
            "--rate: 0 (expected: 1..20000)",
            "--rounds: 0 (expected: 1..10000)",
            "--drivers: nats (expected: eventbus, jetstream or jetstream-always)");
    assertThat(directory).isEmptyDirectory();
  }
}
