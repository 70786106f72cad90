package io.eventbus.loadtest.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.Fault;
import io.eventbus.loadtest.driver.FaultyDriver;
import io.eventbus.loadtest.driver.MemoryDriver;
import io.eventbus.loadtest.workload.Cluster;
import io.eventbus.loadtest.workload.Login;
import io.eventbus.loadtest.workload.Slowness;
import io.eventbus.loadtest.workload.Workload;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WorkloadRunTest {
  private static final Clock CLOCK = Clock.fixed(Instant.EPOCH, ZoneOffset.UTC);

  private static Workload workload(int publishers, int subscribers, int topics, long messages) {
    return workload(publishers, subscribers, topics, messages, List.of());
  }

  private static Workload workload(
      int publishers, int subscribers, int topics, long messages, List<String> mayLose) {
    return new Workload(
        "test",
        "",
        publishers,
        subscribers,
        topics,
        64,
        0,
        messages,
        32,
        Duration.ofMillis(20),
        messages == 0 ? Duration.ofMillis(100) : Duration.ofSeconds(30),
        1,
        3,
        List.of(),
        Slowness.NONE,
        0,
        mayLose,
        Cluster.ALONE,
        false,
        Login.NONE,
        0,
        null,
        null);
  }

  private static RunResult run(Driver driver, Workload workload) throws InterruptedException {
    return new WorkloadRun(driver, workload, Progress.NONE).run(1, "1", CLOCK);
  }

  /** Measures three times in a row. */
  private static List<RunResult> threeRounds(Driver driver, Workload workload)
      throws InterruptedException {
    List<RunResult> results = new ArrayList<>();
    new WorkloadRun(driver, workload, Progress.NONE)
        .run(
            "1",
            CLOCK,
            new WorkloadRun.Rounds() {
              @Override
              public int next() {
                return results.size() < 3 ? results.size() + 1 : 0;
              }

              @Override
              public void done(RunResult result) {
                results.add(result);
              }
            });
    return results;
  }

  @Test
  void roundsAreCountedOneByOne() throws Exception {
    List<RunResult> results = threeRounds(new MemoryDriver(), workload(2, 3, 5, 0));
    assertThat(results).extracting(RunResult::run).containsExactly(1, 2, 3);
    for (RunResult result : results) {
      assertThat(result.problem()).isNull();
      assertThat(result.integrity()).isEqualTo(Integrity.WHOLE);
      assertThat(result.published()).isPositive();
      assertThat(result.latency().count()).isPositive();
      // Each event of the round at most: those of the rounds before it are forgotten.
      assertThat(result.latency().count()).isLessThanOrEqualTo(2 * result.delivered());
    }
  }

  @Test
  void whatGoesWrongIsCountedInItsRoundOnly() throws Exception {
    List<RunResult> results =
        threeRounds(
            new FaultyDriver(new MemoryDriver(), Fault.parse("double:50")), workload(1, 1, 1, 0));
    assertThat(results).hasSize(3);
    long all = results.stream().mapToLong(r -> r.integrity().doubled()).sum();
    for (RunResult result : results) {
      assertThat(result.integrity().doubled()).isPositive().isLessThan(all);
    }
  }

  @Test
  void aCountedWorkloadHasOneRound() throws Exception {
    assertThat(threeRounds(new MemoryDriver(), workload(1, 1, 1, 100))).hasSize(1);
  }

  @Test
  void countsAndTimesWhatArrives() throws Exception {
    RunResult result = run(new MemoryDriver(), workload(2, 3, 5, 0));
    assertThat(result.problem()).isNull();
    assertThat(result.integrity()).isEqualTo(Integrity.WHOLE);
    assertThat(result.published()).isPositive();
    assertThat(result.delivered()).isPositive();
    assertThat(result.seconds()).isGreaterThanOrEqualTo(0.1);
    assertThat(result.latency().count()).isPositive();
    assertThat(result.latency().p50()).isLessThanOrEqualTo(result.latency().max());
    assertThat(result.startedAt()).isEqualTo("1970-01-01T00:00:00Z");
    assertThat(result.serverCpuMicros()).isNotNegative();
  }

  @Test
  void publishesAsManyAsTheWorkloadSays() throws Exception {
    RunResult result = run(new MemoryDriver(), workload(2, 3, 5, 1000));
    assertThat(result.published()).isEqualTo(2000);
    assertThat(result.delivered()).isEqualTo(6000);
    assertThat(result.integrity()).isEqualTo(Integrity.WHOLE);
  }

  @ParameterizedTest
  @EnumSource(Fault.Kind.class)
  void seesADeliberatelyBrokenStream(Fault.Kind kind) throws Exception {
    // Once in 900 events of each of the three subscribers: twice each in 2,000 measured events,
    // and as often as it happens in the warm-up, which counts too.
    Driver broken = new FaultyDriver(new MemoryDriver(), new Fault(kind, 900));
    Integrity integrity = run(broken, workload(1, 3, 1, 2000)).integrity();
    assertThat(integrity.whole()).isFalse();
    assertThat(integrity.foreign()).isZero();
    assertThat(integrity.lost())
        .satisfies(n -> assertThat(n >= 6).isEqualTo(kind == Fault.Kind.DROP));
    assertThat(integrity.doubled())
        .satisfies(n -> assertThat(n >= 6).isEqualTo(kind == Fault.Kind.DOUBLE));
    assertThat(integrity.reordered())
        .satisfies(n -> assertThat(n >= 6).isEqualTo(kind == Fault.Kind.SWAP));
  }

  @Test
  void whatASystemMayLoseIsCountedApart() throws Exception {
    Driver broken = new FaultyDriver(new MemoryDriver(), new Fault(Fault.Kind.DROP, 900));
    RunResult allowed = run(broken, workload(1, 3, 1, 2000, List.of("memory")));
    assertThat(allowed.integrity()).isEqualTo(Integrity.WHOLE);
    assertThat(allowed.allowedLost()).isGreaterThanOrEqualTo(6);
    RunResult another = run(broken, workload(1, 3, 1, 2000, List.of("other")));
    assertThat(another.integrity().lost()).isGreaterThanOrEqualTo(6);
    assertThat(another.allowedLost()).isZero();
  }

  @Test
  void whatComesTwiceIsNeverAllowed() throws Exception {
    Driver broken = new FaultyDriver(new MemoryDriver(), new Fault(Fault.Kind.DOUBLE, 900));
    RunResult result = run(broken, workload(1, 3, 1, 2000, List.of("memory")));
    assertThat(result.integrity().doubled()).isGreaterThanOrEqualTo(6);
  }

  @Test
  void aSystemThatDoesNotStartIsAResultWithAProblem() throws Exception {
    Driver driver =
        new Driver() {
          @Override
          public String name() {
            return "dead";
          }

          @Override
          public io.eventbus.loadtest.driver.Availability availability() {
            return io.eventbus.loadtest.driver.Availability.present("1");
          }

          @Override
          public Session start(Workload workload) {
            throw new DriverException("no port");
          }
        };
    RunResult result = run(driver, workload(1, 1, 1, 0));
    assertThat(result.problem()).isEqualTo("DriverException: no port");
    assertThat(result.delivered()).isZero();
  }

  @Test
  void aPublisherThatFailsEndsTheRun() throws Exception {
    Driver driver =
        new MemoryDriver(
            () -> {
              throw new DriverException("connection lost");
            });
    assertThat(run(driver, workload(1, 1, 1, 0)).problem())
        .isEqualTo("DriverException: connection lost");
  }

  @Test
  void anErrorInAPublisherEndsTheRun() throws Exception {
    Driver driver =
        new MemoryDriver(
            () -> {
              throw new OutOfMemoryError("no heap left");
            });
    assertThat(run(driver, workload(1, 1, 1, 0)).problem())
        .isEqualTo("OutOfMemoryError: no heap left");
  }
}
