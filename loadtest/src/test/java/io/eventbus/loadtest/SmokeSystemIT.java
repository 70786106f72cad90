package io.eventbus.loadtest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.driver.eventbus.EventBusDriver;
import io.eventbus.loadtest.workload.Workload;
import io.eventbus.loadtest.workload.Workloads;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every workload for a second against a real bus in a process of its own, and the kinds of them
 * against each peer: those that come with the build, and those that happen to be installed.
 */
@Timeout(120)
class SmokeSystemIT {
  @TempDir private Path output = Path.of("");
  private final StringWriter out = new StringWriter();

  /** Those that the others vary, with one bus. */
  private static final Set<String> BASIC =
      Set.of("one-to-one/smoke", "fan-out/smoke", "idle/smoke", "durable-publish/smoke");

  static Stream<String> basic() {
    return BASIC.stream().sorted();
  }

  static Stream<String> others() {
    return Workloads.shipped().select("smoke").stream()
        .map(Workload::name)
        .filter(name -> !BASIC.contains(name));
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
            Stream.concat(Stream.of("run", "--output=" + output), Stream.of(arguments))
                .toArray(String[]::new));
  }

  @ParameterizedTest
  @MethodSource("basic")
  void everyEventIsAccountedFor(String workload) throws Exception {
    runOnce(workload);
  }

  @ParameterizedTest
  @MethodSource("others")
  @Nightly
  void everyEventOfTheVariationsIsAccountedFor(String workload) throws Exception {
    runOnce(workload);
  }

  private void runOnce(String workload) throws Exception {
    assertThat(run(workload, "--in-process", "--server-jvm=-Xmx256m"))
        .as(out::toString)
        .isEqualTo(LoadTestExitCode.OK);
    assertThat(Files.readString(output.resolve("results.json"))).contains("\"summaries\"");
    assertThat(out.toString()).doesNotContain("failed:");
    assertThat(out.toString())
        .contains(workload.startsWith("idle/") ? "Idle connections" : "0/0/0");
  }

  @Test
  @Nightly
  void systemsAreKeptBetweenTheRunsOfAWorkload() {
    assertThat(
            run(
                "one-to-one/smoke",
                "paper/smoke",
                "--keep",
                "--runs=2",
                "--drivers=eventbus,tyrus-paper",
                "--server-jvm=-Xmx256m",
                "--client-jvm=-Xmx256m"))
        .as(out::toString)
        .isEqualTo(LoadTestExitCode.OK);
    assertThat(out.toString())
        .containsSubsequence(
            "4 of 8: one-to-one/smoke, eventbus, run 2",
            "7 of 8: paper/smoke, tyrus-paper, run 2",
            "0/0/0");
  }

  static Stream<Arguments> peers() {
    Stream<Arguments> built =
        Stream.of("tyrus-paper", "artemis")
            .flatMap(
                driver ->
                    Stream.of("one-to-one", "fan-out", "many-topics", "latency", "idle", "paper")
                        .map(family -> Arguments.of(family + "/smoke", driver)));
    Stream<Arguments> installed =
        Stream.of("nats", "nats-tcp", "nats-nio", "mosquitto")
            .flatMap(
                driver ->
                    Stream.of("one-to-one", "many-topics", "idle")
                        .map(family -> Arguments.of(family + "/smoke", driver)));
    Stream<Arguments> durable =
        Stream.of("durable-publish", "durable-tail", "durable-replay")
            .map(family -> Arguments.of(family + "/smoke", "jetstream"));
    return Stream.of(
            built,
            installed,
            durable,
            Stream.of("jetstream-always", "kafka", "kafka-flush", "rabbitmq")
                .map(driver -> Arguments.of("durable-publish/smoke", driver)),
            Stream.of(Arguments.of("durable-replay/smoke", "kafka")))
        .flatMap(all -> all);
  }

  @ParameterizedTest
  @Nightly
  @MethodSource("peers")
  void everyEventOfAPeerIsAccountedFor(String workload, String driver) {
    Availability found = new Drivers().create(driver, List.of()).availability();
    assumeTrue(found.present(), driver + ": " + found.detail());
    assertThat(run(workload, "--in-process", "--driver", driver, "--server-jvm=-Xmx512m"))
        .as(out::toString)
        .isEqualTo(LoadTestExitCode.OK);
    assertThat(out.toString()).doesNotContain("failed:");
  }

  @Test
  @Nightly
  void oneEventInAMillionIsMissed() throws Exception {
    Path workload = output.resolve("million.yaml");
    Files.writeString(
        workload,
        "{name: million, payloadBytes: 16, window: 4096, warmUp: 10ms, messages: 1100000,"
            + " duration: 90s, latencyEvery: 1000, runs: 1}");
    assertThat(run(workload.toString(), "--in-process", "--break=drop:1000000"))
        .as(out::toString)
        .isEqualTo(LoadTestExitCode.INTEGRITY);
    assertThat(out.toString()).contains("1/0/0");
  }

  @Test
  @Nightly
  void aRunInAJvmOfItsOwn() {
    assertThat(run("one-to-one/smoke", "--client-jvm=-Xmx256m"))
        .as(out::toString)
        .isEqualTo(LoadTestExitCode.OK);
  }

  @ParameterizedTest
  @ValueSource(strings = {"one-to-one/smoke", "durable-publish/smoke"})
  void aBrokenBusIsSeen(String workload) {
    assertThat(run(workload, "--in-process", "--break=drop:100"))
        .as(out::toString)
        .isEqualTo(LoadTestExitCode.INTEGRITY);
  }
}
