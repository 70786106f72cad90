package io.eventbus.server.federation.lane;

import io.eventbus.server.stats.SingleWriterCounter;

/** What the lanes of one loop have done. Only that loop writes; any thread reads. */
public final class LaneCounters {
  /** Frames that have come by more links count with the last. */
  public static final int MAX_HOPS = 8;

  public final SingleWriterCounter eventsOut = new SingleWriterCounter();
  public final SingleWriterCounter framesOut = new SingleWriterCounter();
  public final SingleWriterCounter bytesOut = new SingleWriterCounter();
  public final SingleWriterCounter eventsIn = new SingleWriterCounter();
  public final SingleWriterCounter framesIn = new SingleWriterCounter();
  public final SingleWriterCounter eventsRelayed = new SingleWriterCounter();
  public final SingleWriterCounter lostGivenUp = new SingleWriterCounter();

  /** Was for a bus that had ended in order, and for no group there. */
  public final SingleWriterCounter notNeeded = new SingleWriterCounter();

  public final SingleWriterCounter lostRestarted = new SingleWriterCounter();
  public final SingleWriterCounter lostQueueFull = new SingleWriterCounter();
  public final SingleWriterCounter lostNoMember = new SingleWriterCounter();
  public final SingleWriterCounter resent = new SingleWriterCounter();
  public final SingleWriterCounter connects = new SingleWriterCounter();
  public final SingleWriterCounter[] hops = new SingleWriterCounter[MAX_HOPS];

  LaneCounters() {
    for (int i = 0; i < MAX_HOPS; i++) {
      hops[i] = new SingleWriterCounter();
    }
  }

  public void hops(int n) {
    hops[Math.min(n, MAX_HOPS) - 1].add(1);
  }
}
