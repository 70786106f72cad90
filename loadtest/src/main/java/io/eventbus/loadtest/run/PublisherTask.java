package io.eventbus.loadtest.run;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.workload.Workload;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Publisher: makes the events, when they are due and as far as the window allows. */
final class PublisherTask {
  private final Ticker ticker;
  private final long origin;
  private final Workload workload;
  private final int number;
  private final Driver.Publisher publisher;
  private final long[] sent;
  private final @Nullable SendWindow window;
  private final byte[] filling;
  private final AtomicLong published = new AtomicLong();
  private long count;

  /**
   * Creates one.
   *
   * @param number of this publisher, from 0
   * @param window bounds what is in flight, null for no bound
   */
  PublisherTask(
      Ticker ticker,
      long origin,
      Workload workload,
      int number,
      Driver.Publisher publisher,
      long[] sent,
      @Nullable SendWindow window) {
    this.ticker = ticker;
    this.origin = origin;
    this.workload = workload;
    this.number = number;
    this.publisher = publisher;
    this.sent = sent;
    this.window = window;
    this.filling = new byte[workload.payloadBytes()];
    // Bytes that do not compress; the same ones in every run.
    new Random(number).nextBytes(filling);
  }

  /** Publishes until the pass is stopped or its events are used up, and flushes. */
  void publish(PublishingPass pass) throws StalledException {
    @Nullable UniformRate rate =
        workload.rate() == 0
            ? null
            : new UniformRate(ticker, pass.start(), workload.rate(), workload.publishers(), number);
    if (rate != null) {
      TimerSlack.remove();
    }
    for (long left = pass.messages(); left > 0 && !pass.stopped(); left--) {
      long due = 0;
      if (rate != null) {
        due = rate.next();
        rate.await(due);
      }
      if (window != null && !window.await(pass)) {
        break;
      }
      publishOne(rate != null, due);
    }
    publisher.flush();
  }

  private void publishOne(boolean timed, long due) {
    long mark = 0;
    if (count % workload.latencyEvery() == 0) {
      mark = (timed ? due : ticker.nanoTime()) - origin;
    }
    // Publishers start at different topics, so that they do not go through them in step.
    int topic = (int) ((count + number) % sent.length);
    count++;
    byte[] payload = filling.clone();
    EventMark.write(payload, number, topic, ++sent[topic], mark);
    if (window != null) {
      window.sent();
    }
    publisher.publish(topic, payload);
    published.lazySet(count);
  }

  /** Returns how many events it has published; any thread. */
  long published() {
    return published.get();
  }
}
