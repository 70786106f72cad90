package io.eventbus.loadtest.run;

import io.eventbus.loadtest.driver.Driver;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Workers' end: counts the events that they have got together, in any order. The driver's threads
 * write; any thread may read.
 */
final class WorkReceiver implements Driver.Receiver {
  private final int payloadBytes;
  private final long before;
  private final int events;
  private final BitSet got;
  private final AtomicLong distinct = new AtomicLong();
  private long doubled;
  private long foreign;

  /**
   * Creates it.
   *
   * @param payloadBytes bytes of each payload
   * @param before number of the last event that is not to come
   * @param events how many are to come
   */
  WorkReceiver(int payloadBytes, long before, int events) {
    this.payloadBytes = payloadBytes;
    this.before = before;
    this.events = events;
    this.got = new BitSet(events);
  }

  @Override
  public void onEvent(ByteBuffer payload) {
    boolean mine = payload.remaining() == payloadBytes;
    long index = mine ? EventMark.number(EventMark.second(payload)) - before - 1 : -1;
    synchronized (this) {
      if (index < 0 || index >= events) {
        foreign++;
      } else if (got.get((int) index)) {
        doubled++;
      } else {
        got.set((int) index);
        distinct.lazySet(distinct.get() + 1);
      }
    }
  }

  /** Returns how many different events have come. */
  long distinct() {
    return distinct.get();
  }

  /** Returns what is wrong so far; events that have not come are lost. */
  synchronized Integrity integrity() {
    return new Integrity(events - distinct.get(), doubled, 0, foreign);
  }
}
