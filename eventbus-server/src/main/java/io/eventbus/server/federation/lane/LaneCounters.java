package io.eventbus.server.federation.lane;

import io.eventbus.server.stats.SingleWriterCounter;

/** Counters of the lanes of one loop. Only that loop writes; any thread reads. */
public final class LaneCounters {
  /** Links of a frame's path; longer paths count as this many. */
  public static final int MAX_HOPS = 8;

  public final SingleWriterCounter eventsOut = new SingleWriterCounter();
  public final SingleWriterCounter framesOut = new SingleWriterCounter();
  public final SingleWriterCounter bytesOut = new SingleWriterCounter();
  public final SingleWriterCounter eventsIn = new SingleWriterCounter();
  public final SingleWriterCounter framesIn = new SingleWriterCounter();
  public final SingleWriterCounter eventsRelayed = new SingleWriterCounter();
  public final SingleWriterCounter lostGivenUp = new SingleWriterCounter();

  /** For a peer that had ended in order, and for no group there. */
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
