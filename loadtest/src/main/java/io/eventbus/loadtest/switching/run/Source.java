package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.run.EventMark;
import io.eventbus.loadtest.run.Ticker;
import io.eventbus.loadtest.run.TimerSlack;
import io.eventbus.loadtest.run.UniformRate;
import io.eventbus.loadtest.switching.Client;
import io.eventbus.loadtest.workload.Workload;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Publisher of numbered events to a topic of its own, evenly spread, each with the time at which it
 * was due. Sends on a thread of its own; any thread may call its methods.
 */
final class Source {
  private static final long JOIN_MILLIS = 30_000;

  private final int number;
  private final long origin;
  private final long perSecond;
  private final String topic;
  private final byte[] filling;
  private final Thread thread;
  private Client client;
  private volatile long sent;
  private volatile boolean stopped;
  private volatile @Nullable DriverException failure;

  /**
   * Creates one that rests.
   *
   * @param number from 0, of the publisher and of its topic
   */
  Source(int number, Client client, long origin, int payloadBytes, long perSecond) {
    this.number = number;
    this.client = client;
    this.origin = origin;
    this.perSecond = perSecond;
    this.topic = Workload.topic(number);
    this.filling = new byte[payloadBytes];
    new Random(number).nextBytes(filling);
    this.thread = new Thread(this::run, "publisher-" + number);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  private void run() {
    TimerSlack.remove();
    UniformRate rate = new UniformRate(Ticker.SYSTEM, System.nanoTime(), perSecond, 1, 0);
    try {
      while (!stopped) {
        long due = rate.next();
        rate.await(due);
        publish(due);
      }
    } catch (DriverException e) {
      failure = e;
    }
  }

  private synchronized void publish(long due) {
    byte[] payload = filling.clone();
    EventMark.write(payload, number, number, sent + 1, due - origin);
    client.publish(topic, payload);
    sent++;
  }

  /** Has another client publish from now on; what the first one published has arrived before. */
  void replace(Client next) {
    Client before;
    synchronized (this) {
      before = client;
      before.flush();
      client = next;
    }
    before.close();
  }

  synchronized Client client() {
    return client;
  }

  int number() {
    return number;
  }

  /** Returns how many events it has published. */
  long sent() {
    return sent;
  }

  long intervalNanos() {
    return TimeUnit.SECONDS.toNanos(1) / perSecond;
  }

  /** Stops, and waits until everything is in the queues of its subscribers. */
  void stop() throws InterruptedException {
    stopped = true;
    thread.join(JOIN_MILLIS);
    DriverException failed = failure;
    if (failed != null) {
      throw failed;
    }
    if (thread.isAlive()) {
      throw new DriverException(thread.getName() + " did not end in time");
    }
    client().flush();
  }

  /** Throws what has ended it early, if anything has. */
  void check() {
    DriverException failed = failure;
    if (failed != null) {
      throw failed;
    }
  }
}
