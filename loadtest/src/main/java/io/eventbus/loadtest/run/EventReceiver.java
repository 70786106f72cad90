package io.eventbus.loadtest.run;

import io.eventbus.loadtest.driver.Driver;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Subscriber's end: checks and counts each event and records its latency.
 *
 * <p>The driver's thread writes; any thread may read the counts. The histogram may be read by
 * whoever has seen the last count.
 */
final class EventReceiver implements Driver.Receiver {
  private static final VarHandle RECEIVED;
  private static final int NOT_MINE = -1;

  static {
    try {
      RECEIVED = MethodHandles.lookup().findVarHandle(EventReceiver.class, "received", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Ticker ticker;
  private final long origin;
  private final MeasuredSpan span;
  private final int payloadBytes;
  private final int publishers;
  private final int[] slots;
  private final long perEventNanos;
  private final SequenceCheck check;
  private final Histogram latencies;
  private final AtomicLong foreign = new AtomicLong();
  private long received;
  private long firstBusMicros = UNKNOWN;
  private long lastBusMicros = UNKNOWN;

  /**
   * Creates one.
   *
   * @param payloadBytes what every payload must have
   * @param topics those that this subscriber must get
   * @param perEventNanos how long it dawdles over each event, 0 for a fast one
   */
  EventReceiver(
      Ticker ticker,
      long origin,
      MeasuredSpan span,
      int payloadBytes,
      int publishers,
      BitSet topics,
      long perEventNanos,
      int digits) {
    this.ticker = ticker;
    this.origin = origin;
    this.span = span;
    this.payloadBytes = payloadBytes;
    this.publishers = publishers;
    this.perEventNanos = perEventNanos;
    this.slots = new int[topics.length()];
    Arrays.fill(slots, NOT_MINE);
    int slot = 0;
    for (int topic = topics.nextSetBit(0); topic >= 0; topic = topics.nextSetBit(topic + 1)) {
      slots[topic] = slot++;
    }
    this.check = new SequenceCheck(Math.multiplyExact(slot, publishers));
    this.latencies = new Histogram(digits);
  }

  @Override
  public void onEvent(ByteBuffer payload, long busMicros) {
    if (span.opened()) {
      if (firstBusMicros == UNKNOWN) {
        firstBusMicros = busMicros;
      }
      lastBusMicros = busMicros;
    }
    onEvent(payload);
  }

  @Override
  public void onEvent(ByteBuffer payload) {
    if (payload.remaining() != payloadBytes) {
      foreign.incrementAndGet();
      return;
    }
    long first = EventMark.first(payload);
    long second = EventMark.second(payload);
    int publisher = EventMark.publisher(first);
    int topic = EventMark.topic(second);
    if (publisher >= publishers || topic >= slots.length || slots[topic] == NOT_MINE) {
      foreign.incrementAndGet();
      return;
    }
    long due = EventMark.due(first);
    if (due != 0 && span.holds(due)) {
      latencies.recordValue(Math.max(0, ticker.nanoTime() - origin - due));
    }
    RECEIVED.setRelease(this, received + 1);
    check.accept(slots[topic] * publishers + publisher, EventMark.number(second));
    if (perEventNanos > 0) {
      dawdle();
    }
  }

  /**
   * Begins the stream of the first publisher and topic later than with its first event.
   *
   * @param before number of the last event that is not to come
   */
  void begin(long before) {
    check.begin(0, before);
  }

  private void dawdle() {
    long end = ticker.nanoTime() + perEventNanos;
    for (long left = perEventNanos; left > 0; left = end - ticker.nanoTime()) {
      ticker.park(left);
    }
  }

  /** Returns whether this subscriber is to get a topic. */
  boolean gets(int topic) {
    return topic < slots.length && slots[topic] != NOT_MINE;
  }

  /** Returns the highest number received from a publisher on a topic that it gets. */
  long highest(int publisher, int topic) {
    return check.highest(slots[topic] * publishers + publisher);
  }

  /** Returns the number of events so far, the doubled ones included. */
  long received() {
    return (long) RECEIVED.getAcquire(this);
  }

  /** Returns whether the last event of every stream has come, even if others are missing. */
  boolean caughtUp(long[][] sent) {
    return tail(sent) == 0;
  }

  /** Returns how many events are missing at the ends of the streams. */
  private long tail(long[][] sent) {
    long tail = 0;
    for (int topic = 0; topic < slots.length; topic++) {
      if (slots[topic] != NOT_MINE) {
        for (int publisher = 0; publisher < publishers; publisher++) {
          tail += Math.max(0, sent[publisher][topic] - highest(publisher, topic));
        }
      }
    }
    return tail;
  }

  /** Returns the verdict, given how many each publisher has sent to each topic. */
  Integrity integrity(long[][] sent) {
    return new Integrity(
        check.missing() + tail(sent), check.doubled(), check.reordered(), foreign.get());
  }

  /**
   * Returns from when to when the bus received what was received here in the measured part; null if
   * it does not tell. For whoever has seen the last count.
   */
  long @Nullable [] busSpanMicros() {
    long first = firstBusMicros;
    return first == UNKNOWN ? null : new long[] {first, lastBusMicros};
  }

  /** Returns the recorded latencies, in nanoseconds. */
  Histogram latencies() {
    return latencies;
  }
}
