package io.eventbus.loadtest.run;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.driver.DriverJournal;
import io.eventbus.loadtest.workload.DurableTopic;
import io.eventbus.loadtest.workload.Workload;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Publisher of a durable topic that has a bounded number of events without a confirmation. Events
 * are numbered from 1 without an end; as it is the only publisher, the number is also the position.
 * Any thread may confirm; one thread calls the rest.
 */
final class ConfirmLoop {
  private static final Duration STALLED = Duration.ofSeconds(30);
  private static final long PARK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long NOBODY = Long.MAX_VALUE;
  private static final int DIGITS = 3;

  private final DriverJournal journal;
  private final int window;
  private final int timedEvery;
  private final byte[] filling;
  private final AtomicLong published = new AtomicLong();
  private final AtomicLong ended = new AtomicLong();
  private final AtomicReference<@Nullable DriverException> failure = new AtomicReference<>();
  private final Histogram latency = new ConcurrentHistogram(DIGITS);
  private volatile long measuredFrom;
  private volatile boolean measuring;
  private volatile long wakeAt = NOBODY;
  private volatile boolean stopped;
  private volatile @Nullable Thread thread;

  ConfirmLoop(DriverJournal journal, Workload workload, DurableTopic topic) {
    this.journal = journal;
    this.window = topic.inFlight();
    this.timedEvery = workload.latencyEvery();
    this.filling = new byte[workload.payloadBytes()];
    // Bytes that do not compress; the same ones in every run.
    new Random(0).nextBytes(filling);
  }

  /**
   * Begins to publish, up to the event of a number.
   *
   * @param last number of the last event, unless it is stopped before
   */
  void start(long last) {
    stopped = false;
    Thread started = new Thread(() -> publish(last), "publisher");
    started.setDaemon(true);
    thread = started;
    started.start();
  }

  private void publish(long last) {
    try {
      long number = published.get();
      while (number < last && awaitRoom(number)) {
        publishOne(++number);
      }
    } catch (DriverException e) {
      failure.compareAndSet(null, e);
    }
  }

  private void publishOne(long number) {
    byte[] payload = filling.clone();
    EventMark.write(payload, 0, 0, number, 0);
    published.lazySet(number);
    long begin = number % timedEvery == 0 ? System.nanoTime() : 0;
    journal.publish(payload, (position, why) -> ended(number, begin, position, why));
  }

  private void ended(long number, long begin, long position, @Nullable Throwable why) {
    if (why != null) {
      failure.compareAndSet(
          null, new DriverException("event " + number + " is not confirmed", why));
    } else if (position != number && position != 0) {
      failure.compareAndSet(
          null,
          new DriverException(
              "event " + number + " is at position " + position + " (expected: its number)"));
    } else if (begin != 0 && measuring && begin - measuredFrom >= 0) {
      latency.recordValue(System.nanoTime() - begin);
    }
    if (ended.incrementAndGet() >= wakeAt) {
      wakeAt = NOBODY;
      LockSupport.unpark(thread);
    }
  }

  /**
   * Waits until another event may be published.
   *
   * @return false if none may, because it was stopped or has failed
   */
  private boolean awaitRoom(long number) {
    // A wake-up costs more than an event, so it waits until it is worth it.
    long goal = number - window + Math.max(1, window / 8);
    long last = ended.get();
    if (number - last >= window) {
      long deadline = System.nanoTime() + STALLED.toNanos();
      while (last < goal && !stopped && failure.get() == null) {
        wakeAt = goal;
        if (ended.get() < goal) {
          LockSupport.parkNanos(PARK_NANOS);
        }
        long now = ended.get();
        if (now != last) {
          last = now;
          deadline = System.nanoTime() + STALLED.toNanos();
        } else if (System.nanoTime() - deadline > 0) {
          throw unconfirmed();
        }
      }
      wakeAt = NOBODY;
    }
    return !stopped && failure.get() == null;
  }

  private DriverException unconfirmed() {
    return new DriverException(
        published.get()
            - ended.get()
            + " events are not confirmed (expected: one in "
            + STALLED.toSeconds()
            + " s)");
  }

  /** Begins the measured part: forgets all latencies, and records those of events from now on. */
  void measure() {
    latency.reset();
    measuredFrom = System.nanoTime();
    measuring = true;
  }

  /** Returns how many events were published. */
  long published() {
    return published.get();
  }

  /**
   * Returns how many events were confirmed.
   *
   * @throws DriverException if one was refused, or not confirmed in time
   */
  long confirmed() {
    @Nullable DriverException why = failure.get();
    if (why != null) {
      throw why;
    }
    return ended.get();
  }

  /**
   * Publishes no more, and waits for the confirmations.
   *
   * @return latencies of the measured part in nanoseconds, each from before the event was published
   *     until its confirmation was there
   * @throws DriverException if one was refused, or not confirmed in time
   */
  Histogram stop() throws InterruptedException {
    stopped = true;
    return join();
  }

  /** Waits until the last event is published, and for the confirmations; as {@link #stop}. */
  Histogram join() throws InterruptedException {
    if (thread != null) {
      thread.join();
      thread = null;
    }
    long last = -1;
    long deadline = 0;
    while (confirmed() < published.get()) {
      if (ended.get() != last) {
        last = ended.get();
        deadline = System.nanoTime() + STALLED.toNanos();
      } else if (System.nanoTime() - deadline > 0) {
        throw unconfirmed();
      }
      Thread.sleep(1);
    }
    measuring = false;
    return latency.copy();
  }
}
