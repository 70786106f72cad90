package io.eventbus.loadtest.run;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverCalls;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.Outages;
import io.eventbus.loadtest.workload.Registers;
import io.eventbus.loadtest.workload.Workload;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A caller and a member at work, once or several times: so many calls are in flight from the
 * beginning of the warm-up to the end of the measured part. In the result a call is an event that
 * is published, and its answer one that is delivered; a call that fails is lost.
 */
final class CallRun {
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final Duration WARM_UP_AGAIN = Duration.ofSeconds(1);
  private static final double SECOND = 1e9;

  /** More of all calls are no measurement. */
  private static final double MAX_FAILED = 0.01;

  private final Driver driver;
  private final Workload workload;
  private final Progress progress;
  private final String version;
  private final Clock clock;
  private final List<Long> timeline = new ArrayList<>();

  CallRun(Driver driver, Workload workload, Progress progress, String version, Clock clock) {
    this.driver = driver;
    this.workload = workload;
    this.progress = progress;
    this.version = version;
    this.clock = clock;
  }

  private record Snapshot(long nanos, DriverCalls.Counts counts, long serverCpu, long clientCpu) {}

  /** Runs as often as it is told to; {@code first} is the number of the first run. */
  void run(Driver.Session session, int first, WorkloadRun.Rounds rounds)
      throws InterruptedException {
    int run = first;
    String startedAt = clock.instant().toString();
    try (DriverCalls calls = session.calls()) {
      ProcessMeter client = new ProcessMeter(calls.clientPids());
      Duration warmUp = workload.warmUp();
      while (run > 0) {
        startedAt = clock.instant().toString();
        DriverCalls.Counts before = calls.counts();
        timeline.clear();
        calls.start();
        spend(Progress.Phase.WARM_UP, warmUp, calls);
        // Servers that were killed are other processes since.
        ProcessMeter server = new ProcessMeter(session.serverPids());
        calls.measure();
        Snapshot begin = snapshot(calls, server, client);
        spend(Progress.Phase.MEASURE, workload.duration(), calls);
        Snapshot end = snapshot(calls, server, client);
        long serverRss = server.rssBytes();
        long clientRss = client.rssBytes();
        Histogram latency = calls.stop();
        rounds.done(
            result(
                run,
                startedAt,
                begin,
                end,
                LatencySummary.of(latency),
                serverRss,
                clientRss,
                before,
                calls.counts(),
                calls.outages()));
        run = rounds.next();
        warmUp = warmUpAgain();
      }
    } catch (DriverException e) {
      rounds.done(
          RunResult.failed(
              workload.name(),
              driver.name(),
              version,
              run,
              startedAt,
              String.valueOf(e.getMessage())));
    }
  }

  private Duration warmUpAgain() {
    @Nullable Registers registers = workload.registers();
    return registers == null ? WARM_UP_AGAIN : registers.recovery();
  }

  private Snapshot snapshot(DriverCalls calls, ProcessMeter server, ProcessMeter client) {
    return new Snapshot(System.nanoTime(), calls.counts(), server.cpuNanos(), client.cpuNanos());
  }

  /** Lets time pass, and tells of every second. */
  private void spend(Progress.Phase phase, Duration duration, DriverCalls calls) {
    long start = System.nanoTime();
    long end = start + duration.toNanos();
    long second = start;
    DriverCalls.Counts last = calls.counts();
    for (long now = start; now - end < 0; now = System.nanoTime()) {
      if (now - second >= SECOND) {
        DriverCalls.Counts counts = calls.counts();
        double length = (now - second) / SECOND;
        double answered = (counts.answered() - last.answered()) / length;
        if (phase == Progress.Phase.MEASURE) {
          timeline.add(Math.round(answered));
        }
        progress.second(
            phase, (now - start) / SECOND, (counts.called() - last.called()) / length, answered);
        second = now;
        last = counts;
      }
      LockSupport.parkNanos(Math.min(POLL_NANOS, end - now));
    }
  }

  private RunResult result(
      int run,
      String startedAt,
      Snapshot begin,
      Snapshot end,
      LatencySummary latency,
      long serverRss,
      long clientRss,
      DriverCalls.Counts before,
      DriverCalls.Counts after,
      @Nullable Outages outages) {
    long called = after.called() - before.called();
    long failed = after.failed() - before.failed();
    return new RunResult(
        workload.name(),
        driver.name(),
        version,
        run,
        startedAt,
        (end.nanos() - begin.nanos()) / SECOND,
        end.counts().called() - begin.counts().called(),
        end.counts().answered() - begin.counts().answered(),
        latency,
        WorkloadRun.micros(begin.serverCpu(), end.serverCpu()),
        WorkloadRun.micros(begin.clientCpu(), end.clientCpu()),
        serverRss,
        clientRss,
        new Integrity(
            failed, after.doubled() - before.doubled(), 0, after.foreign() - before.foreign()),
        0,
        0,
        List.copyOf(timeline),
        null,
        null,
        outages,
        null,
        failed > called * MAX_FAILED
            ? failed + " of " + called + " calls failed, the first with " + after.failure()
            : null);
  }
}
