package io.eventbus.loadtest.coordination.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.Outages;
import io.eventbus.loadtest.run.Progress;
import io.eventbus.loadtest.run.RunResult;
import io.eventbus.loadtest.run.WorkloadRun;
import io.eventbus.loadtest.workload.Workload;
import io.eventbus.loadtest.workload.Workloads;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class CoordinationDriverTest {
  private static final Progress SILENT = (phase, elapsed, published, delivered) -> {};

  @TempDir private Path directory = Path.of("");
  private final MemorySystem system = new MemorySystem("memory");
  private final Driver driver = new CoordinationDriver("memory", system);

  private Workload workload(String registers) throws Exception {
    Path file = directory.resolve("w.yaml");
    Files.writeString(
        file,
        "{name: w, payloadBytes: 20, warmUp: 50ms, duration: 700ms, registers: {servers: 3, data: "
            + directory.resolve("data")
            + ", "
            + registers
            + "}}");
    return Workloads.shipped().select(file.toString()).get(0);
  }

  private RunResult run(String registers) throws Exception {
    return new WorkloadRun(driver, workload(registers), SILENT).run(1, "1", Clock.systemUTC());
  }

  private static Outages outages(RunResult result) {
    return Objects.requireNonNull(result.outages());
  }

  @Test
  void everySuccessIsCountedAndEveryRegisterChecked() throws Exception {
    RunResult result = run("clients: 2, inFlight: 2");
    assertThat(result.problem()).isNull();
    assertThat(result.integrity().whole()).isTrue();
    assertThat(result.delivered()).isPositive();
    assertThat(result.latency().count()).isPositive();
    assertThat(outages(result).failedAttempts()).isEmpty();
    assertThat(outages(result).longestGapMillis()).isLessThan(2_000);
    assertThat(system.closed).isTrue();
    try (Stream<Path> left = Files.list(directory.resolve("data"))) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void repeatsAFailedAttempt() throws Exception {
    system.client.failBeforeEvery = 5;
    system.client.failAfterEvery = 7;
    RunResult result = run("clients: 2");
    assertThat(result.integrity().lost()).isZero();
    assertThat(outages(result).failedAttempts()).containsKeys("before", "after");
  }

  @Test
  void tellsOfLostAndDoubledAndForeignWrites() throws Exception {
    system.client.doubleEvery = 10;
    assertThat(run("clients: 1").integrity().doubled()).isPositive();
    system.client.doubleEvery = 0;
    system.client.forgetEvery = 10;
    assertThat(run("clients: 1").integrity().lost()).isPositive();
    system.client.forgetEvery = 0;
    system.client.foreignAt = system.client.count() + 10;
    assertThat(run("clients: 1").integrity().foreign()).isPositive();
  }

  @Test
  void aClientThatDiesIsAProblem() throws Exception {
    system.client.dieAt = 5;
    system.client.diesOfAnError = true;
    assertThat(run("clients: 1").problem())
        .contains("a client died", "StackOverflowError: a fault of the client");
    assertThat(system.closed).isTrue();
  }

  @Test
  void killsAndRestartsServers() throws Exception {
    assertThat(run("clients: 1, kills: [follower]").problem()).isNull();
    assertThat(run("clients: 1, kills: [leader]").problem()).isNull();
    assertThat(system.killed).containsExactly(1, 0);
    assertThat(system.restarted).containsExactly(1, 0);
  }

  @Test
  void checksTransactions() throws Exception {
    RunResult result = run("clients: 3, operation: transaction");
    assertThat(result.delivered()).isPositive();
    assertThat(result.integrity().whole()).isTrue();
    assertThat(SubscriptionLists.toggle("6 a,b", "c")).isEqualTo("7 a,b,c");
    assertThat(SubscriptionLists.toggle("7 a,b,c", "a")).isEqualTo("8 b,c");
  }

  @Test
  void onlyServersThatTellAreAskedForVisibility() throws Exception {
    assertThat(driver.lacks(workload("operation: visibility"))).isEqualTo("visibility");
    assertThat(driver.lacks(workload("operation: write"))).isEmpty();
    assertThat(driver.lacks(Workloads.shipped().all().get(0))).isEqualTo("events");
  }
}
