package io.eventbus.loadtest.run;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverJournal;
import io.eventbus.loadtest.workload.DurableTopic;
import io.eventbus.loadtest.workload.Workload;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Durable topic that is written or read, once or several times. In the result of the first a
 * delivery is a confirmation, and every confirmed event is read back afterwards; in that of the
 * second it is an event that was read.
 */
final class DurableRun {
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long READ_POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long STALLED_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final Duration WARM_UP_AGAIN = Duration.ofSeconds(1);
  private static final double SECOND = 1e9;

  private final Driver driver;
  private final Workload workload;
  private final DurableTopic topic;
  private final Progress progress;
  private final String version;
  private final Clock clock;
  private final Ticker ticker = Ticker.SYSTEM;
  private final List<Long> timeline = new ArrayList<>();

  DurableRun(
      Driver driver,
      Workload workload,
      DurableTopic topic,
      Progress progress,
      String version,
      Clock clock) {
    this.driver = driver;
    this.workload = workload;
    this.topic = topic;
    this.progress = progress;
    this.version = version;
    this.clock = clock;
  }

  private record Snapshot(long nanos, long published, long done, long serverCpu, long clientCpu) {}

  /**
   * Measured part.
   *
   * @param latency in nanoseconds; empty for reading
   */
  private record Measured(
      Snapshot begin,
      Snapshot end,
      long serverRss,
      long clientRss,
      Histogram latency,
      Integrity integrity) {}

  /** Runs as often as it is told to; {@code first} is the number of the first run. */
  void run(Driver.Session session, int first, WorkloadRun.Rounds rounds)
      throws InterruptedException {
    int run = first;
    String startedAt = clock.instant().toString();
    ProcessMeter server = new ProcessMeter(session.serverPids());
    ProcessMeter client = ProcessMeter.own();
    try (DriverJournal journal = session.journal()) {
      ConfirmLoop loop = new ConfirmLoop(journal, workload, topic);
      if (topic.operation() == DurableTopic.Operation.REPLAY) {
        loop.start(topic.events());
        loop.join();
      }
      Duration warmUp = workload.warmUp();
      while (run > 0) {
        startedAt = clock.instant().toString();
        timeline.clear();
        Measured measured =
            switch (topic.operation()) {
              case REPLAY -> replay(journal, loop.confirmed(), warmUp, server, client);
              case WORK -> work(journal, loop, warmUp, server, client);
              default -> publish(journal, loop, warmUp, server, client);
            };
        rounds.done(result(run, startedAt, measured));
        run = rounds.next();
        warmUp = WARM_UP_AGAIN;
      }
    } catch (DriverException e) {
      rounds.done(
          RunResult.failed(
              workload.name(), driver.name(), version, run, startedAt, WorkloadRun.describe(e)));
    }
  }

  private Measured publish(
      DriverJournal journal,
      ConfirmLoop loop,
      Duration warmUp,
      ProcessMeter server,
      ProcessMeter client)
      throws InterruptedException {
    long before = loop.confirmed();
    loop.start(Long.MAX_VALUE);
    spend(Progress.Phase.WARM_UP, warmUp, loop);
    loop.measure();
    Snapshot begin = snapshot(loop, server, client);
    spend(Progress.Phase.MEASURE, workload.duration(), loop);
    Snapshot end = snapshot(loop, server, client);
    long serverRss = server.rssBytes();
    long clientRss = client.rssBytes();
    Histogram latency = loop.stop();
    Pace pace = new Pace(Progress.Phase.DRAIN, 0);
    Integrity integrity = read(journal, before, loop.confirmed(), 0, pace);
    return new Measured(begin, end, serverRss, clientRss, latency, integrity);
  }

  private Snapshot snapshot(ConfirmLoop loop, ProcessMeter server, ProcessMeter client) {
    return new Snapshot(
        ticker.nanoTime(),
        loop.published(),
        loop.confirmed(),
        server.cpuNanos(),
        client.cpuNanos());
  }

  private void spend(Progress.Phase phase, Duration duration, ConfirmLoop loop) {
    Pace pace = new Pace(phase, loop.confirmed());
    long end = ticker.nanoTime() + duration.toNanos();
    for (long left = duration.toNanos(); left > 0; left = end - ticker.nanoTime()) {
      LockSupport.parkNanos(Math.min(POLL_NANOS, left));
      pace.at(loop.confirmed());
    }
  }

  private Measured replay(
      DriverJournal journal,
      long events,
      Duration warmUp,
      ProcessMeter server,
      ProcessMeter client) {
    Pace cold = new Pace(Progress.Phase.WARM_UP, 0);
    Integrity integrity = Integrity.WHOLE;
    long start = ticker.nanoTime();
    for (long passes = 0; ticker.nanoTime() - start < warmUp.toNanos(); passes++) {
      integrity = integrity.plus(read(journal, 0, events, passes * events, cold));
    }
    Pace pace = new Pace(Progress.Phase.MEASURE, 0);
    Snapshot begin = new Snapshot(ticker.nanoTime(), 0, 0, server.cpuNanos(), client.cpuNanos());
    long read = 0;
    do {
      integrity = integrity.plus(read(journal, 0, events, read, pace));
      read += events;
    } while (ticker.nanoTime() - begin.nanos() < workload.duration().toNanos());
    Snapshot end = new Snapshot(ticker.nanoTime(), 0, read, server.cpuNanos(), client.cpuNanos());
    return new Measured(
        begin, end, server.rssBytes(), client.rssBytes(), new Histogram(1), integrity);
  }

  /** Stores events, and has workers settle all of them; first as often as the warm-up lasts. */
  private Measured work(
      DriverJournal journal,
      ConfirmLoop loop,
      Duration warmUp,
      ProcessMeter server,
      ProcessMeter client)
      throws InterruptedException {
    Integrity integrity = Integrity.WHOLE;
    Pace cold = new Pace(Progress.Phase.WARM_UP, 0);
    long start = ticker.nanoTime();
    for (long done = 0; ticker.nanoTime() - start < warmUp.toNanos(); done += topic.events()) {
      store(loop);
      integrity = integrity.plus(work(journal, loop.confirmed(), done, cold));
    }
    store(loop);
    Pace pace = new Pace(Progress.Phase.MEASURE, 0);
    Snapshot begin = new Snapshot(ticker.nanoTime(), 0, 0, server.cpuNanos(), client.cpuNanos());
    integrity = integrity.plus(work(journal, loop.confirmed(), 0, pace));
    Snapshot end =
        new Snapshot(ticker.nanoTime(), 0, topic.events(), server.cpuNanos(), client.cpuNanos());
    return new Measured(
        begin, end, server.rssBytes(), client.rssBytes(), new Histogram(1), integrity);
  }

  private void store(ConfirmLoop loop) throws InterruptedException {
    loop.start(loop.published() + topic.events());
    loop.join();
  }

  /**
   * Has workers settle the last events.
   *
   * @param last position of the last event
   * @param earlier events that were settled in the same phase
   */
  private Integrity work(DriverJournal journal, long last, long earlier, Pace pace) {
    WorkReceiver receiver =
        new WorkReceiver(
            workload.payloadBytes(), last - topic.events(), Math.toIntExact(topic.events()));
    List<Driver.Subscriber> workers = new ArrayList<>();
    try {
      for (int i = 0; i < workload.subscribers(); i++) {
        workers.add(journal.work(i, receiver));
      }
      long done = -1;
      long deadline = 0;
      while (receiver.distinct() < topic.events()) {
        long now = receiver.distinct();
        if (now != done) {
          done = now;
          deadline = ticker.nanoTime() + STALLED_NANOS;
        } else if (ticker.nanoTime() - deadline > 0) {
          break;
        }
        pace.at(earlier + now);
        LockSupport.parkNanos(READ_POLL_NANOS);
      }
    } finally {
      // Their last settlements arrive before the end.
      workers.forEach(Driver.Subscriber::close);
    }
    return receiver.integrity();
  }

  /**
   * Reads a part of what is stored, and compares it with what was published.
   *
   * @param before position before the first event
   * @param last position of the last event
   * @param earlier events that were read in the same phase
   */
  private Integrity read(DriverJournal journal, long before, long last, long earlier, Pace pace) {
    BitSet topics = new BitSet();
    topics.set(0);
    EventReceiver receiver =
        new EventReceiver(
            ticker,
            ticker.nanoTime(),
            new MeasuredSpan(),
            workload.payloadBytes(),
            1,
            topics,
            0,
            1);
    receiver.begin(before);
    long[][] sent = {{last}};
    Driver.Subscriber reader = journal.read(before + 1, receiver);
    try {
      long received = -1;
      long deadline = 0;
      while (!receiver.caughtUp(sent)) {
        long now = receiver.received();
        if (now != received) {
          received = now;
          deadline = ticker.nanoTime() + STALLED_NANOS;
        } else if (ticker.nanoTime() - deadline > 0) {
          break;
        }
        pace.at(earlier + now);
        LockSupport.parkNanos(READ_POLL_NANOS);
      }
      if (pace.phase == Progress.Phase.DRAIN) {
        // A moment longer, for an event that comes once more after the last.
        LockSupport.parkNanos(SETTLE_NANOS);
      }
    } finally {
      reader.close();
    }
    return receiver.integrity(sent);
  }

  /** Tells of every second of a phase. */
  private final class Pace {
    private final Progress.Phase phase;
    private final long start = ticker.nanoTime();
    private long second = start;
    private long last;

    Pace(Progress.Phase phase, long done) {
      this.phase = phase;
      this.last = done;
    }

    void at(long done) {
      long now = ticker.nanoTime();
      if (now - second >= SECOND) {
        double rate = (done - last) * SECOND / (now - second);
        if (phase == Progress.Phase.MEASURE) {
          timeline.add(Math.round(rate));
        }
        progress.second(phase, (now - start) / SECOND, rate, rate);
        second = now;
        last = done;
      }
    }
  }

  private RunResult result(int run, String startedAt, Measured m) {
    return new RunResult(
        workload.name(),
        driver.name(),
        version,
        run,
        startedAt,
        (m.end.nanos() - m.begin.nanos()) / SECOND,
        m.end.published() - m.begin.published(),
        m.end.done() - m.begin.done(),
        LatencySummary.of(m.latency),
        WorkloadRun.micros(m.begin.serverCpu(), m.end.serverCpu()),
        WorkloadRun.micros(m.begin.clientCpu(), m.end.clientCpu()),
        m.serverRss,
        m.clientRss,
        m.integrity,
        0,
        0,
        List.copyOf(timeline),
        null,
        null,
        null,
        null,
        null);
  }
}
