package io.eventbus.it;

import io.eventbus.protocol.TypeCode;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Publisher and a subscriber that behave well, beside a test's attack on the bus: every event is
 * confirmed, arrives once and in order. Times are for the load tester's attacks: here the machine
 * may be busy, and the deadlines only notice that nothing moves.
 */
final class WellBehaved implements AutoCloseable {
  static final String TOPIC = "well.behaved";

  private static final int PROGRESS = 5;
  private static final long PACE_NANOS = 2_000_000;

  private final RawClient publisher;
  private final RawClient subscriber;
  private final Thread publishing = new Thread(this::publish, "well-behaved-publisher");
  private final Thread reading = new Thread(this::read, "well-behaved-subscriber");
  private volatile boolean stopping;
  private volatile boolean published;
  private volatile boolean pausing;
  private volatile boolean paused;
  private volatile long confirmed;
  private volatile long received;
  private volatile @Nullable Throwable failure;

  private WellBehaved(RawClient publisher, RawClient subscriber) {
    this.publisher = publisher;
    this.subscriber = subscriber;
  }

  static WellBehaved start(URI bus) throws IOException {
    return start(RawClient.connected(bus), RawClient.connected(bus));
  }

  /** Starts with two clients that have been welcomed. */
  static WellBehaved start(RawClient publisher, RawClient subscriber) throws IOException {
    subscriber.subscribe(1, TOPIC);
    WellBehaved pair = new WellBehaved(publisher, subscriber);
    pair.publishing.start();
    pair.reading.start();
    return pair;
  }

  private void publish() {
    try {
      for (long sequence = 1; !stopping; sequence++) {
        rest();
        publisher.send(RawClient.publish(TOPIC, sequence, true, "event " + sequence));
        long about = publisher.expectConfirm().getAbout();
        if (about != sequence) {
          throw new AssertionError("confirmed: " + about + " (expected: " + sequence + ")");
        }
        confirmed = sequence;
        LockSupport.parkNanos(PACE_NANOS);
      }
    } catch (IOException | RuntimeException | AssertionError e) {
      failure = e;
    }
  }

  private void rest() throws IOException {
    while (pausing && !stopping) {
      paused = true;
      LockSupport.parkNanos(2 * PACE_NANOS);
      // Still alive: pings are answered on the way.
      publisher.send(TestFrames.barrier(1));
      publisher.expect(TypeCode.BARRIER);
    }
    paused = false;
  }

  /** Stops publishing for a while; returns when all that was published has arrived. */
  void pause() {
    pausing = true;
    WatchedBus.await(
        () -> failure != null || (paused && received == confirmed),
        () -> "received: " + received + " (expected: " + confirmed + ")");
    check();
  }

  void resume() {
    pausing = false;
  }

  private void check() {
    Throwable f = failure;
    if (f != null) {
      throw new AssertionError("the well-behaved clients were disturbed", f);
    }
  }

  private void read() {
    try {
      for (long sequence = 1; !published || received < confirmed; sequence++) {
        RawClient.Delivered event = subscriber.expectDeliver();
        if (event.sequence() != sequence) {
          throw new AssertionError(
              "sequence: " + event.sequence() + " (expected: " + sequence + ")");
        }
        received = sequence;
      }
    } catch (IOException | RuntimeException | AssertionError e) {
      if (!published || received < confirmed) {
        failure = e;
      }
    }
  }

  long confirmed() {
    return confirmed;
  }

  /** Waits until both have come some events further than they were. */
  void awaitProgress() {
    long goal = received + PROGRESS;
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RawClient.DEADLINE_MILLIS);
    while (received < goal) {
      check();
      if (System.nanoTime() > deadline) {
        throw new AssertionError("received: " + received + " (expected: " + goal + ")");
      }
      LockSupport.parkNanos(PACE_NANOS);
    }
    check();
  }

  /** Stops publishing and checks that everything confirmed has arrived. */
  @Override
  public void close() throws IOException {
    stopping = true;
    try {
      publishing.join(RawClient.DEADLINE_MILLIS);
      // Not before: the last event may be confirmed while this waits.
      published = true;
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RawClient.DEADLINE_MILLIS);
      while (received < confirmed && failure == null && System.nanoTime() < deadline) {
        LockSupport.parkNanos(PACE_NANOS);
      }
      publisher.close();
      subscriber.close();
      reading.join(RawClient.DEADLINE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    check();
    if (received != confirmed) {
      throw new AssertionError("received: " + received + " (expected: " + confirmed + ")");
    }
  }
}
