package io.eventbus.loadtest.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverJournal;
import io.eventbus.loadtest.driver.Fault;
import io.eventbus.loadtest.driver.FaultyDriver;
import io.eventbus.loadtest.driver.MemoryDriver;
import io.eventbus.loadtest.driver.MemoryJournal;
import io.eventbus.loadtest.workload.Cluster;
import io.eventbus.loadtest.workload.DurableTopic;
import io.eventbus.loadtest.workload.Login;
import io.eventbus.loadtest.workload.Slowness;
import io.eventbus.loadtest.workload.Workload;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class DurableRunTest {
  private static final Workload PUBLISH = workload(DurableTopic.Operation.PUBLISH, 8);
  private static final Workload REPLAY = workload(DurableTopic.Operation.REPLAY, 8);
  private static final long EVENTS = 5_000;

  private static Workload workload(DurableTopic.Operation operation, int inFlight) {
    return new Workload(
        "test",
        "",
        1,
        1,
        1,
        64,
        0,
        0,
        0,
        Duration.ofMillis(10),
        Duration.ofMillis(50),
        1,
        3,
        List.of(),
        Slowness.NONE,
        0,
        List.of(),
        Cluster.ALONE,
        false,
        Login.NONE,
        0,
        null,
        new DurableTopic(operation, inFlight, EVENTS, "."));
  }

  private static List<RunResult> run(Driver driver, Workload workload, int rounds)
      throws InterruptedException {
    List<RunResult> results = new ArrayList<>();
    new WorkloadRun(driver, workload, Progress.NONE)
        .run(
            "1",
            Clock.systemUTC(),
            new WorkloadRun.Rounds() {
              @Override
              public int next() {
                return results.size() < rounds ? results.size() + 1 : 0;
              }

              @Override
              public void done(RunResult result) {
                results.add(result);
              }
            });
    return results;
  }

  private static RunResult run(DriverJournal journal) throws InterruptedException {
    return run(new MemoryDriver(journal), PUBLISH, 1).get(0);
  }

  @Test
  void everyConfirmedEventIsReadBackInEachRound() throws Exception {
    List<RunResult> results = run(new MemoryDriver(), PUBLISH, 2);
    assertThat(results).hasSize(2);
    for (RunResult result : results) {
      assertThat(result.problem()).isNull();
      assertThat(result.integrity()).isEqualTo(Integrity.WHOLE);
      assertThat(result.delivered()).isPositive();
      assertThat(result.latency().count()).isPositive().isLessThanOrEqualTo(result.published() + 8);
      assertThat(result.serverCpuMicros()).isNotNegative();
    }
  }

  @Test
  void storedEventsAreReadAgainAndAgain() throws Exception {
    List<RunResult> results = run(new MemoryDriver(), REPLAY, 2);
    assertThat(results).hasSize(2);
    for (RunResult result : results) {
      assertThat(result.problem()).isNull();
      assertThat(result.integrity()).isEqualTo(Integrity.WHOLE);
      assertThat(result.delivered()).isPositive();
      assertThat(result.delivered() % EVENTS).isZero();
      assertThat(result.latency()).isEqualTo(LatencySummary.NONE);
    }
  }

  @ParameterizedTest
  @EnumSource(Fault.Kind.class)
  void faultsOfWhatIsReadBackAreCounted(Fault.Kind kind) throws Exception {
    for (Workload workload : List.of(PUBLISH, REPLAY)) {
      Driver broken = new FaultyDriver(new MemoryDriver(), new Fault(kind, 900));
      Integrity integrity = run(broken, workload, 1).get(0).integrity();
      assertThat(integrity.lost() > 0).isEqualTo(kind == Fault.Kind.DROP);
      assertThat(integrity.doubled() > 0).isEqualTo(kind == Fault.Kind.DOUBLE);
      assertThat(integrity.reordered() > 0).isEqualTo(kind == Fault.Kind.SWAP);
      assertThat(integrity.foreign()).isZero();
    }
  }

  /** A confirmation for an event that was not stored. */
  @Test
  void aConfirmedEventThatIsNotStoredIsLost() throws Exception {
    RunResult result =
        run(
            new MemoryJournal() {
              private long count;

              @Override
              public void publish(byte[] payload, Outcome outcome) {
                if (++count != 3) {
                  store(payload);
                }
                outcome.ended(0, null);
              }
            });
    assertThat(result.problem()).isNull();
    assertThat(result.integrity().lost()).isEqualTo(1);
  }

  @Test
  void anEventWithTheWrongPositionEndsTheRun() throws Exception {
    RunResult result =
        run(
            new MemoryJournal() {
              @Override
              public void publish(byte[] payload, Outcome outcome) {
                outcome.ended(store(payload) + 1, null);
              }
            });
    assertThat(result.problem())
        .isEqualTo("DriverException: event 1 is at position 2 (expected: its number)");
  }

  @Test
  void aRefusedEventEndsTheRun() throws Exception {
    RunResult result =
        run(
            new MemoryJournal() {
              @Override
              public void publish(byte[] payload, Outcome outcome) {
                outcome.ended(0, new IllegalStateException("full"));
              }
            });
    assertThat(result.problem())
        .startsWith("DriverException: event 1 is not confirmed (java.lang.IllegalStateException");
  }

  @Test
  void anEventThatTheClientDoesNotTakeEndsTheRun() throws Exception {
    RunResult result =
        run(
            new MemoryJournal() {
              @Override
              public void publish(byte[] payload, Outcome outcome) {
                throw new DriverException("no connection");
              }
            });
    assertThat(result.problem()).startsWith("DriverException: no connection");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8, 100})
  void asManyEventsWaitForTheirConfirmationsAsTheWindowHolds(int window) throws Exception {
    WaitingJournal journal = new WaitingJournal(window);
    Thread thread = new Thread(journal::confirm, "confirming");
    thread.start();
    RunResult result =
        run(new MemoryDriver(journal), workload(DurableTopic.Operation.PUBLISH, window), 1).get(0);
    thread.interrupt();
    assertThat(result.problem()).isNull();
    assertThat(result.integrity()).isEqualTo(Integrity.WHOLE);
    assertThat(journal.max).isEqualTo(window);
  }

  /** Journal that confirms from the moment on in which the window is full. */
  private static final class WaitingJournal extends MemoryJournal {
    private record Waiting(long position, Outcome outcome) {}

    private final BlockingQueue<Waiting> waiting = new LinkedBlockingQueue<>();
    private final CountDownLatch full;
    private final AtomicInteger unconfirmed = new AtomicInteger();
    private volatile int max;

    WaitingJournal(int window) {
      full = new CountDownLatch(window);
    }

    @Override
    public void publish(byte[] payload, Outcome outcome) {
      max = Math.max(max, unconfirmed.incrementAndGet());
      waiting.add(new Waiting(store(payload), outcome));
      full.countDown();
    }

    private void confirm() {
      try {
        full.await();
        while (true) {
          Waiting event = waiting.take();
          unconfirmed.decrementAndGet();
          event.outcome().ended(event.position(), null);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
