package io.eventbus.loadtest.switching.run;

import io.eventbus.loadtest.driver.Driver;
import io.eventbus.loadtest.run.EventMark;
import io.eventbus.loadtest.run.Integrity;
import io.eventbus.loadtest.run.SequenceCheck;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import java.util.function.IntToLongFunction;
import java.util.function.LongSupplier;

/**
 * Receiver of a subscriber: checks every event of every publisher, and finds the longest time
 * without one.
 *
 * <p>A <em>pause</em> of a stream (what one publisher sends to this subscriber) is the longest time
 * between two deliveries that follow each other, in a window of time, less the interval at which
 * that publisher sends. The delivery before the window counts as its beginning, or the window's own
 * where nothing has ever come, and the end of the window as a delivery: a stream that has not come
 * back, or never came, is not missed. Any thread.
 */
final class Watch implements Driver.Receiver {
  private final LongSupplier clock;
  private final long origin;
  private final int payloadBytes;
  private final boolean late;
  private final MoveLatencies latencies;
  private final Map<Integer, Stream> streams = new TreeMap<>();
  private long foreign;
  private long received;
  private long windowBegin;

  /** Events of one publisher. */
  private static final class Stream {
    private final SequenceCheck check = new SequenceCheck(1);
    private long last;
    private long longest;
    private long longestEnd;
  }

  /**
   * Creates one.
   *
   * @param clock the time, as {@link System#nanoTime}
   * @param payloadBytes what every payload must have
   * @param late whether events were published before it subscribed: then a stream begins with the
   *     first that comes, else with number 1
   */
  Watch(LongSupplier clock, long origin, int payloadBytes, boolean late, MoveLatencies latencies) {
    this.clock = clock;
    this.origin = origin;
    this.payloadBytes = payloadBytes;
    this.late = late;
    this.latencies = latencies;
    this.windowBegin = clock.getAsLong();
  }

  @Override
  public void onEvent(ByteBuffer payload) {
    long now = clock.getAsLong();
    if (payload.remaining() != payloadBytes) {
      countForeign();
      return;
    }
    long first = EventMark.first(payload);
    long number = EventMark.number(EventMark.second(payload));
    latencies.record(now - origin - EventMark.due(first));
    accept(EventMark.publisher(first), number, now);
  }

  private synchronized void countForeign() {
    foreign++;
  }

  private synchronized void accept(int publisher, long number, long now) {
    Stream stream = streams.computeIfAbsent(publisher, p -> new Stream());
    if (stream.last == 0) {
      if (late) {
        stream.check.begin(0, number - 1);
      }
    } else if (now - stream.last > stream.longest) {
      stream.longest = now - stream.last;
      stream.longestEnd = now;
    }
    stream.last = now;
    received++;
    stream.check.accept(0, number);
  }

  /** Returns the number of events so far, the doubled ones included. */
  synchronized long received() {
    return received;
  }

  /** Begins a window. */
  synchronized void begin() {
    windowBegin = clock.getAsLong();
    for (Stream stream : streams.values()) {
      stream.longest = 0;
      stream.longestEnd = 0;
    }
  }

  /**
   * Returns the longest pause of a stream since the window began.
   *
   * @param interval at which each sends, in nanoseconds
   * @return nanoseconds, 0 or more
   */
  synchronized long pause(IntPredicate of, int publishers, long interval) {
    long now = clock.getAsLong();
    long pause = 0;
    for (int p = 0; p < publishers; p++) {
      if (of.test(p)) {
        Stream stream = streams.get(p);
        long longest =
            stream == null ? now - windowBegin : Math.max(stream.longest, now - stream.last);
        pause = Math.max(pause, longest - interval);
      }
    }
    return pause;
  }

  /**
   * Says when the longest of the times without an event ended, of all streams that count.
   *
   * @return as the clock; 0 if of one of them nothing has come since the window began
   */
  synchronized long resumedAt(IntPredicate of, int publishers) {
    long end = 0;
    for (int p = 0; p < publishers; p++) {
      if (of.test(p)) {
        Stream stream = streams.get(p);
        if (stream == null || stream.longestEnd == 0) {
          return 0;
        }
        end = end == 0 ? stream.longestEnd : Math.max(end, stream.longestEnd);
      }
    }
    return end;
  }

  /**
   * Returns whether an event of every stream that counts has come since a time.
   *
   * @return false if of one of them nothing has, or has ever, come
   */
  synchronized boolean heardSince(long time, IntPredicate of, int publishers) {
    for (int p = 0; p < publishers; p++) {
      if (of.test(p)) {
        Stream stream = streams.get(p);
        if (stream == null || stream.last - time <= 0) {
          return false;
        }
      }
    }
    return true;
  }

  /** Returns the highest number that a publisher's events have had. */
  synchronized long highest(int publisher) {
    Stream stream = streams.get(publisher);
    return stream == null ? 0 : stream.check.highest(0);
  }

  /**
   * Returns what went wrong with the streams that count so far, but for what is missing at the end.
   */
  synchronized Integrity integrity(IntPredicate of) {
    Integrity sum = new Integrity(0, 0, 0, foreign);
    for (Map.Entry<Integer, Stream> entry : streams.entrySet()) {
      if (of.test(entry.getKey())) {
        SequenceCheck check = entry.getValue().check;
        sum = sum.plus(new Integrity(check.missing(), check.doubled(), check.reordered(), 0));
      }
    }
    return sum;
  }

  /** Returns how many events are missing at the ends of the streams. */
  synchronized long tail(IntPredicate of, IntToLongFunction sent, int publishers) {
    long tail = 0;
    for (int p = 0; p < publishers; p++) {
      if (of.test(p)) {
        tail += Math.max(0, sent.applyAsLong(p) - highest(p));
      }
    }
    return tail;
  }
}
