package io.eventbus.loadtest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.eventbus.loadtest.faults.buses.BusNetwork;
import io.eventbus.loadtest.faults.buses.LoopDisk;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Durable topics under faults, with real processes. */
@Timeout(900)
class FaultsSystemIT {
  @TempDir private Path directory = Path.of("");
  private final StringWriter out = new StringWriter();

  private int run(String... arguments) {
    PrintWriter writer = new PrintWriter(out, true);
    return LoadTest.commandLine(new Drivers())
        .setOut(writer)
        .setErr(writer)
        .execute(
            Stream.concat(
                    Stream.of("faults", "durable", "--data=" + directory), Stream.of(arguments))
                .toArray(String[]::new));
  }

  @Test
  void aKilledBusKeepsItsPromises() throws Exception {
    Path json = directory.resolve("result.json");
    assertThat(run("--faults=kill", "--seconds=1", "--json=" + json)).as(out::toString).isZero();
    assertThat(out.toString())
        .containsSubsequence("kill: bus-1", "start: bus-1", "ready after", "all faults have ended")
        .containsPattern("kill alone +[1-9]+ +no confirmation for [0-9]+ ms \\(median\\)")
        .containsPattern("confirmed +[1-9]")
        .containsPattern("work: deliveries +[1-9]")
        .containsPattern("findings +0");
    assertThat(Files.readString(json))
        .contains("\"confirmed\"", "\"gaps\"", "\"verdict\"", "\"diary\"");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  @Nightly
  void oneBusKeepsItsPromises(int seed) {
    assertThat(run("--seed=" + seed)).as(out::toString).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  @Nightly
  void aBusWhoseDiskFailsKeepsItsPromises(int seed) {
    assumeTrue(LoopDisk.lacks().isEmpty(), LoopDisk.lacks());
    assertThat(run("--seed=" + seed, "--faults=power-loss,kill,slow-fsync,full-disk"))
        .as(out::toString)
        .isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  @Nightly
  void busesWhoseFsyncFailsKeepTheirPromises(int replicas) {
    assumeTrue(LoopDisk.lacks().isEmpty(), LoopDisk.lacks());
    assertThat(run("--replicas=" + replicas, "--seconds=120", "--faults=failing-fsync,kill-leader"))
        .as(out::toString)
        .isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  @Nightly
  void aClusterKeepsItsPromises(int seed) {
    assertThat(run("--replicas=3", "--seed=" + seed)).as(out::toString).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  @Nightly
  void aClusterThatIsPartedKeepsItsPromises(int seed) {
    assumeTrue(BusNetwork.lacks().isEmpty(), BusNetwork.lacks());
    assertThat(
            run(
                "--replicas=3",
                "--seed=" + seed,
                "--seconds=120",
                "--faults=partition,drain,kill-leader,pause"))
        .as(out::toString)
        .isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  @Nightly
  void aBusWithBitsThatChangedDeliversNothingWrong(int replicas) {
    assertThat(run("--replicas=" + replicas, "--seconds=120", "--faults=bit-flip"))
        .as(out::toString)
        .isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  @Nightly
  void aClusterWhoseDisksFailKeepsItsPromises(int seed) {
    assumeTrue(LoopDisk.lacks().isEmpty(), LoopDisk.lacks());
    assertThat(
            run(
                "--replicas=3",
                "--seed=" + seed,
                "--faults=power-loss,power-loss-all,kill-leader,pause,slow-fsync,full-disk"))
        .as(out::toString)
        .isZero();
  }

  @Test
  @Nightly
  void aBusLosesNothingWithItsPower() {
    assumeTrue(LoopDisk.lacks().isEmpty(), LoopDisk.lacks());
    PrintWriter writer = new PrintWriter(out, true);
    assertThat(
            LoadTest.commandLine(new Drivers())
                .setOut(writer)
                .setErr(writer)
                .execute("faults", "power-loss", "--drivers=eventbus", "--data=" + directory))
        .as(out::toString)
        .isZero();
  }
}
