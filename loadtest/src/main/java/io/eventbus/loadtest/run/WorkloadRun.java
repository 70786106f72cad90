package io.eventbus.loadtest.run;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.workload.DurableTopic;
import io.eventbus.loadtest.workload.Workload;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Run of one system: starts it, connects, warms up, measures, drains, gives the verdict, and ends
 * the system. It may be measured several times: then it rests in between, and is warm the next
 * time.
 *
 * <p>By time, events flow without a break from the warm-up to the end of the measured part; by
 * number of messages, the warm-up is drained first and the measured part lasts from the first event
 * to the last arrival.
 */
public final class WorkloadRun {
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long ARRIVAL_POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final Duration WARM_UP_AGAIN = Duration.ofSeconds(1);
  private static final double SECOND = 1e9;
  private static final double MILLI = 1e6;

  private final Driver driver;
  private final Workload workload;
  private final Progress progress;
  private final Ticker ticker = Ticker.SYSTEM;
  private final MeasuredSpan span = new MeasuredSpan();
  private final List<Long> timeline = new ArrayList<>();
  private @Nullable PassTimes passTimes;

  /**
   * Creates one.
   *
   * @param driver the system under test, which must be present
   */
  public WorkloadRun(Driver driver, Workload workload, Progress progress) {
    this.driver = driver;
    this.workload = workload;
    this.progress = progress;
  }

  /** Use of resources and counts so far. */
  private record Snapshot(
      long nanos, long published, long received, long serverCpu, long clientCpu) {}

  /** Says when to measure, and takes what was found. */
  public interface Rounds {
    /**
     * Waits until it is time to measure.
     *
     * @return the number of the run, from 1; 0 when there is none any more
     * @throws InterruptedException if the thread is interrupted
     */
    int next() throws InterruptedException;

    /**
     * Takes the figures of a run.
     *
     * @param result with {@link RunResult#problem} if it ended early; then no other follows
     */
    void done(RunResult result);
  }

  /**
   * Runs once; once for each instance.
   *
   * @return the figures, with {@link RunResult#problem} if it ended early
   * @throws InterruptedException if the thread is interrupted; the system is ended all the same
   */
  public RunResult run(int run, String version, Clock clock) throws InterruptedException {
    List<RunResult> results = new ArrayList<>();
    run(
        version,
        clock,
        new Rounds() {
          @Override
          public int next() {
            return results.isEmpty() ? run : 0;
          }

          @Override
          public void done(RunResult result) {
            results.add(result);
          }
        });
    return results.get(0);
  }

  /**
   * Runs as often as it is told to, with the same processes and connections; once for each
   * instance. After the first time the warm-up is one second. A workload that {@link
   * #canRepeat(Workload) cannot be repeated} is run once.
   *
   * @throws InterruptedException if the thread is interrupted; the system is ended all the same
   */
  public void run(String version, Clock clock, Rounds rounds) throws InterruptedException {
    int run = rounds.next();
    if (run == 0) {
      return;
    }
    String startedAt = clock.instant().toString();
    try (Driver.Session session = driver.start(workload)) {
      if (workload.idle() > 0) {
        rounds.done(idle(session, run, version, startedAt));
        return;
      }
      if (workload.calls() > 0 || workload.registers() != null) {
        new CallRun(driver, workload, progress, version, clock).run(session, run, rounds);
        return;
      }
      @Nullable DurableTopic durable = workload.durable();
      if (durable != null && durable.operation() != DurableTopic.Operation.TAIL) {
        new DurableRun(driver, workload, durable, progress, version, clock)
            .run(session, run, rounds);
        return;
      }
      Clients clients = Clients.connect(ticker, workload, span, session);
      ProcessMeter server = new ProcessMeter(session.serverPids());
      ProcessMeter client = ProcessMeter.own();
      Duration warmUp = workload.warmUp();
      Verdict before = Verdict.NONE;
      while (run > 0) {
        startedAt = clock.instant().toString();
        Snapshot[] measured = measure(clients, warmUp, server, client);
        long serverRss = server.rssBytes();
        long clientRss = client.rssBytes();
        // A moment longer, for an event that comes once more after the last.
        LockSupport.parkNanos(SETTLE_NANOS);
        Verdict now = Verdict.of(clients);
        rounds.done(
            result(
                run,
                version,
                startedAt,
                clients,
                now.since(before),
                measured[0],
                measured[1],
                serverRss,
                clientRss));
        // An event that came after all would be counted in the next round, against the lost ones of
        // this.
        boolean goesOn = clients.failure() == null && clients.caughtUp() && canRepeat(workload);
        run = goesOn ? rounds.next() : 0;
        warmUp = WARM_UP_AGAIN;
        before = now;
      }
    } catch (DriverException e) {
      rounds.done(
          RunResult.failed(workload.name(), driver.name(), version, run, startedAt, describe(e)));
    }
  }

  /**
   * Returns whether a workload can be measured several times in the same processes.
   *
   * @return false if it counts what a fresh system takes
   */
  public static boolean canRepeat(Workload workload) {
    return workload.idle() == 0 && workload.messages() == 0;
  }

  /** Faults since the start. */
  private record Verdict(Integrity fast, Integrity slow, long reportedLost) {
    static final Verdict NONE = new Verdict(Integrity.WHOLE, Integrity.WHOLE, 0);

    static Verdict of(Clients clients) {
      return new Verdict(clients.integrity(false), clients.integrity(true), clients.reportedLost());
    }

    Verdict since(Verdict before) {
      return new Verdict(
          fast.minus(before.fast), slow.minus(before.slow), reportedLost - before.reportedLost);
    }
  }

  private Snapshot[] measure(
      Clients clients, Duration warmUp, ProcessMeter server, ProcessMeter client)
      throws InterruptedException {
    timeline.clear();
    span.shut();
    clients.forgetLatencies();
    return workload.messages() == 0
        ? measureTime(clients, warmUp, server, client)
        : measureMessages(clients, server, client);
  }

  private RunResult idle(Driver.Session session, int run, String version, String startedAt) {
    ProcessMeter server = new ProcessMeter(session.serverPids());
    long serverCpu = server.cpuNanos();
    long start = ticker.nanoTime();
    IdleCost cost = new IdleRun(workload, server).run(session);
    return new RunResult(
        workload.name(),
        driver.name(),
        version,
        run,
        startedAt,
        (ticker.nanoTime() - start) / SECOND,
        0,
        0,
        LatencySummary.NONE,
        micros(serverCpu, server.cpuNanos()),
        ProcessMeter.UNKNOWN,
        server.rssBytes(),
        ProcessMeter.UNKNOWN,
        // A connection that was closed is something that was lost.
        new Integrity(cost.lost(), 0, 0, 0),
        0,
        0,
        List.of(),
        null,
        cost,
        null,
        null,
        null);
  }

  private Snapshot[] measureTime(
      Clients clients, Duration warmUp, ProcessMeter server, ProcessMeter client)
      throws InterruptedException {
    PublishingPass pass = new PublishingPass(ticker.nanoTime(), 0);
    clients.start(pass);
    spend(Progress.Phase.WARM_UP, warmUp, clients);
    Snapshot begin = snapshot(clients, server, client);
    span.open(sinceOrigin(clients, begin));
    spend(Progress.Phase.MEASURE, workload.duration(), clients);
    Snapshot end = snapshot(clients, server, client);
    span.close(sinceOrigin(clients, end));
    pass.stop();
    clients.join();
    clients.drain();
    return new Snapshot[] {begin, end};
  }

  private Snapshot[] measureMessages(Clients clients, ProcessMeter server, ProcessMeter client)
      throws InterruptedException {
    PublishingPass warmUp = new PublishingPass(ticker.nanoTime(), 0);
    clients.start(warmUp);
    spend(Progress.Phase.WARM_UP, workload.warmUp(), clients);
    warmUp.stop();
    clients.join();
    clients.drain();

    Snapshot begin = snapshot(clients, server, client);
    span.open(sinceOrigin(clients, begin));
    PublishingPass pass = new PublishingPass(ticker.nanoTime(), workload.messages());
    clients.start(pass);
    long deadline = ticker.nanoTime() + workload.duration().toNanos();
    while (clients.publishing() && ticker.nanoTime() < deadline && clients.failure() == null) {
      LockSupport.parkNanos(ARRIVAL_POLL_NANOS);
    }
    pass.stop();
    clients.join();
    double publisherNanos = ticker.nanoTime() - begin.nanos();
    clients.drain();
    Snapshot end = snapshot(clients, server, client);
    passTimes =
        new PassTimes(
            publisherNanos / MILLI, clients.busMillis(), (end.nanos() - begin.nanos()) / MILLI);
    return new Snapshot[] {begin, end};
  }

  private long sinceOrigin(Clients clients, Snapshot at) {
    return at.nanos() - clients.origin();
  }

  private Snapshot snapshot(Clients clients, ProcessMeter server, ProcessMeter client) {
    return new Snapshot(
        ticker.nanoTime(),
        clients.published(),
        clients.received(),
        server.cpuNanos(),
        client.cpuNanos());
  }

  /** Lets time pass, and tells of every second; a failure ends it early. */
  private void spend(Progress.Phase phase, Duration duration, Clients clients) {
    long start = ticker.nanoTime();
    long end = start + duration.toNanos();
    long second = start;
    long published = clients.published();
    long received = clients.received();
    while (true) {
      long now = ticker.nanoTime();
      boolean over = now >= end || clients.failure() != null;
      if (now - second >= SECOND || (over && now - second >= SECOND / 2)) {
        double length = (now - second) / SECOND;
        long nowPublished = clients.published();
        long nowReceived = clients.received();
        double rate = (nowReceived - received) / length;
        if (phase == Progress.Phase.MEASURE) {
          timeline.add(Math.round(rate));
        }
        progress.second(phase, (now - start) / SECOND, (nowPublished - published) / length, rate);
        second = now;
        published = nowPublished;
        received = nowReceived;
      }
      if (over) {
        return;
      }
      LockSupport.parkNanos(Math.min(POLL_NANOS, end - now));
    }
  }

  private RunResult result(
      int run,
      String version,
      String startedAt,
      Clients clients,
      Verdict verdict,
      Snapshot begin,
      Snapshot end,
      long serverRss,
      long clientRss) {
    Integrity all = verdict.fast().plus(verdict.slow());
    long allowed = 0;
    if (workload.mayLose().contains(driver.name())) {
      allowed = all.lost();
    } else if (workload.slow().mayLose()) {
      allowed = verdict.slow().lost();
    }
    Integrity counted =
        new Integrity(all.lost() - allowed, all.doubled(), all.reordered(), all.foreign());
    @Nullable Throwable failure = clients.failure();
    return new RunResult(
        workload.name(),
        driver.name(),
        version,
        run,
        startedAt,
        (end.nanos() - begin.nanos()) / SECOND,
        end.published() - begin.published(),
        end.received() - begin.received(),
        clients.latency(),
        micros(begin.serverCpu(), end.serverCpu()),
        micros(begin.clientCpu(), end.clientCpu()),
        serverRss,
        clientRss,
        counted,
        allowed,
        verdict.reportedLost(),
        List.copyOf(timeline),
        passTimes,
        null,
        null,
        null,
        failure == null ? null : describe(failure));
  }

  /** Returns the time between two moments in microseconds, -1 if one is unknown. */
  static long micros(long beginNanos, long endNanos) {
    boolean known = beginNanos != ProcessMeter.UNKNOWN && endNanos != ProcessMeter.UNKNOWN;
    return known ? (endNanos - beginNanos) / 1000 : ProcessMeter.UNKNOWN;
  }

  /** Says what went wrong, and why. */
  static String describe(Throwable failure) {
    String message = failure.getClass().getSimpleName() + ": " + failure.getMessage();
    @Nullable Throwable cause = failure.getCause();
    return cause == null ? message : message + " (" + cause + ")";
  }
}
