package io.eventbus.loadtest.run;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The connections of a run, all publishers and subscribers, and what they have counted. */
final class Clients {
  private static final Duration JOIN = Duration.ofSeconds(30);
  private static final Duration NO_PROGRESS = Duration.ofSeconds(5);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final int PRECISE_SUBSCRIBERS = 32;

  private final Ticker ticker;
  private final Workload workload;
  private final MeasuredSpan span;
  private final List<EventReceiver> receivers = new ArrayList<>();
  private final List<Driver.Subscriber> subscribers = new ArrayList<>();
  private final List<PublisherTask> tasks = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final long[][] sent;
  private final long origin;

  private Clients(Ticker ticker, Workload workload, MeasuredSpan span) {
    this.ticker = ticker;
    this.workload = workload;
    this.span = span;
    this.sent = new long[workload.publishers()][workload.topics()];
    // An event that is due in the origin itself would look like one that is not recorded.
    this.origin = ticker.nanoTime() - 1;
  }

  /** Connects the subscribers first, so that nothing is published before they listen. */
  static Clients connect(
      Ticker ticker, Workload workload, MeasuredSpan span, Driver.Session session)
      throws InterruptedException {
    Clients clients = new Clients(ticker, workload, span);
    for (int i = 0; i < workload.subscribers(); i++) {
      clients.receivers.add(clients.receiver(i));
    }
    clients.subscribers.addAll(
        ParallelConnecting.all(
            workload.subscribers(),
            i -> session.subscriber(i, workload.filter(i), clients.receivers.get(i))));
    List<Driver.Publisher> publishers =
        ParallelConnecting.all(workload.publishers(), session::publisher);
    List<EventReceiver> awaited =
        clients.receivers.subList(0, workload.subscribers() - workload.slow().subscribers());
    for (int i = 0; i < workload.publishers(); i++) {
      long[] sent = clients.sent[i];
      @Nullable SendWindow window =
          workload.window() == 0
              ? null
              : new SendWindow(ticker, i, workload.window(), sent, awaited);
      clients.tasks.add(
          new PublisherTask(ticker, clients.origin, workload, i, publishers.get(i), sent, window));
    }
    return clients;
  }

  private EventReceiver receiver(int number) {
    return new EventReceiver(
        ticker,
        origin,
        span,
        workload.payloadBytes(),
        workload.publishers(),
        workload.topicsOf(number),
        workload.isSlow(number) ? workload.slow().perEvent().toNanos() : 0,
        // A histogram of three digits takes 200 KiB, one of two 30 KiB.
        workload.subscribers() <= PRECISE_SUBSCRIBERS ? 3 : 2);
  }

  /** Returns what the times in the events count from. */
  long origin() {
    return origin;
  }

  /** Starts all publishers. */
  void start(PublishingPass pass) {
    threads.clear();
    for (int i = 0; i < tasks.size(); i++) {
      PublisherTask task = tasks.get(i);
      Thread thread = new Thread(() -> publish(task, pass), "publisher-" + i);
      thread.setDaemon(true);
      threads.add(thread);
    }
    threads.forEach(Thread::start);
  }

  private void publish(PublisherTask task, PublishingPass pass) {
    try {
      task.publish(pass);
    } catch (Throwable e) {
      // An Error, too: without this publisher the run would be slow and look right.
      failures.add(e);
    }
  }

  /** Waits for the publishers to end; one that hangs is a failure. */
  void join() throws InterruptedException {
    long deadline = ticker.nanoTime() + JOIN.toNanos();
    for (Thread thread : threads) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - ticker.nanoTime());
      thread.join(Math.max(1, left));
      if (thread.isAlive()) {
        failures.add(
            new StalledException(
                thread.getName() + " did not end within " + JOIN.toSeconds() + " s"));
        return;
      }
    }
  }

  /** Returns whether a publisher is still at work. */
  boolean publishing() {
    return threads.stream().anyMatch(Thread::isAlive);
  }

  /** Waits until everything has arrived, or nothing has for a while. */
  void drain() {
    long received = -1;
    long deadline = 0;
    while (!caughtUp()) {
      long now = received();
      if (now != received) {
        received = now;
        deadline = ticker.nanoTime() + NO_PROGRESS.toNanos();
      } else if (ticker.nanoTime() > deadline) {
        return;
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Returns whether the last event of each stream has arrived everywhere; publishers must rest. */
  boolean caughtUp() {
    return receivers.stream().allMatch(receiver -> receiver.caughtUp(sent));
  }

  /** Returns the first failure, null if there was none. */
  @Nullable Throwable failure() {
    return failures.peek();
  }

  long published() {
    return tasks.stream().mapToLong(PublisherTask::published).sum();
  }

  long received() {
    return receivers.stream().mapToLong(EventReceiver::received).sum();
  }

  /** Returns the verdict on all subscribers of one kind. */
  Integrity integrity(boolean slow) {
    Integrity sum = Integrity.WHOLE;
    for (int i = 0; i < receivers.size(); i++) {
      if (workload.isSlow(i) == slow) {
        sum = sum.plus(receivers.get(i).integrity(sent));
      }
    }
    return sum;
  }

  long reportedLost() {
    return subscribers.stream().mapToLong(Driver.Subscriber::reportedLost).sum();
  }

  /** Returns how long the bus took to receive what was measured, in milliseconds; -1 if unknown. */
  double busMillis() {
    long first = Long.MAX_VALUE;
    long last = 0;
    for (EventReceiver receiver : receivers) {
      long @Nullable [] span = receiver.busSpanMicros();
      if (span == null) {
        return Driver.Receiver.UNKNOWN;
      }
      first = Math.min(first, span[0]);
      last = Math.max(last, span[1]);
    }
    return (last - first) / 1000.0;
  }

  /** Starts the latencies anew; while nothing is published. */
  void forgetLatencies() {
    receivers.forEach(receiver -> receiver.latencies().reset());
  }

  LatencySummary latency() {
    Histogram all = new Histogram(3);
    receivers.forEach(receiver -> all.add(receiver.latencies()));
    return LatencySummary.of(all);
  }
}
