package io.eventbus.loadtest.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Bounds what one publisher has sent and not every subscriber received.
 *
 * <p>Publisher and subscribers live in one process, so credit comes back through memory and costs
 * the system under test nothing: the same for every system. An event is acknowledged when every
 * subscriber that is to get it (the slow ones apart) has received it or a later one of its stream.
 * For one thread.
 */
final class SendWindow {
  private static final long PARK_NANOS = 20_000;

  /** Without any acknowledgement for so long, the events in flight are taken to be lost. */
  static final Duration STALLED = Duration.ofSeconds(10);

  private final Ticker ticker;
  private final int publisher;
  private final int window;
  private final int resumeAt;
  private final EventReceiver[][] receivers;
  // For each topic the receiver that was behind when last looked at: while it stays so, the
  // others need not be asked.
  private final int[] laggards;
  private final long[] acknowledged;
  private final long[] sent;
  private long inFlight;

  /**
   * Creates one.
   *
   * @param window how many may be in flight, at least 1
   * @param sent how many were sent to each topic; the publisher counts them up before {@link #sent}
   */
  SendWindow(Ticker ticker, int publisher, int window, long[] sent, List<EventReceiver> receivers) {
    this.ticker = ticker;
    this.publisher = publisher;
    this.window = window;
    // Looking costs one read for each topic, so wait until it is worth it.
    this.resumeAt = window - Math.max(1, window / 8);
    this.sent = sent;
    this.laggards = new int[sent.length];
    this.acknowledged = new long[sent.length];
    this.receivers = new EventReceiver[sent.length][];
    for (int topic = 0; topic < sent.length; topic++) {
      List<EventReceiver> of = new ArrayList<>();
      for (EventReceiver receiver : receivers) {
        if (receiver.gets(topic)) {
          of.add(receiver);
        }
      }
      this.receivers[topic] = of.toArray(new EventReceiver[0]);
    }
  }

  /** Counts one event in; to be called before it is published. */
  void sent() {
    inFlight++;
  }

  /**
   * Waits until another event may be sent.
   *
   * @return false if it was ended
   * @throws StalledException if nothing was acknowledged for a long time
   */
  boolean await(PublishingPass stopped) throws StalledException {
    if (inFlight < window) {
      return true;
    }
    long before = refresh();
    long deadline = ticker.nanoTime() + STALLED.toNanos();
    while (inFlight > resumeAt) {
      if (stopped.stopped()) {
        return false;
      }
      ticker.park(PARK_NANOS);
      long now = refresh();
      if (now != before) {
        before = now;
        deadline = ticker.nanoTime() + STALLED.toNanos();
      } else if (ticker.nanoTime() > deadline) {
        throw new StalledException(
            "publisher "
                + publisher
                + ": none of "
                + inFlight
                + " events in flight was received for "
                + STALLED.toSeconds()
                + " s");
      }
    }
    return true;
  }

  private long refresh() {
    long total = 0;
    for (int topic = 0; topic < sent.length; topic++) {
      if (acknowledged[topic] < sent[topic]) {
        acknowledged[topic] = acknowledged(topic);
        total += sent[topic] - acknowledged[topic];
      }
    }
    inFlight = total;
    return total;
  }

  private long acknowledged(int topic) {
    EventReceiver[] of = receivers[topic];
    if (of.length == 0) {
      return sent[topic];
    }
    long known = acknowledged[topic];
    long min = of[laggards[topic]].highest(publisher, topic);
    if (min == known) {
      return known;
    }
    for (int i = 0; i < of.length; i++) {
      long highest = of[i].highest(publisher, topic);
      if (highest < min) {
        min = highest;
        laggards[topic] = i;
        if (highest == known) {
          return known;
        }
      }
    }
    return min;
  }
}
