package io.eventbus.server.federation;

import io.eventbus.server.stats.SingleWriterCounter;

/** What the lanes of one loop have done. Only that loop writes; any thread reads. */
final class LaneCounters {
  /** Frames that have come by more links count with the last. */
  static final int MOST_HOPS = 8;

  final SingleWriterCounter eventsOut = new SingleWriterCounter();
  final SingleWriterCounter framesOut = new SingleWriterCounter();
  final SingleWriterCounter bytesOut = new SingleWriterCounter();
  final SingleWriterCounter eventsIn = new SingleWriterCounter();
  final SingleWriterCounter framesIn = new SingleWriterCounter();
  final SingleWriterCounter eventsRelayed = new SingleWriterCounter();
  final SingleWriterCounter lostGivenUp = new SingleWriterCounter();

  /** Was for a bus that had ended in order, and for no group there. */
  final SingleWriterCounter notNeeded = new SingleWriterCounter();

  final SingleWriterCounter lostRestarted = new SingleWriterCounter();
  final SingleWriterCounter lostQueueFull = new SingleWriterCounter();
  final SingleWriterCounter lostNoMember = new SingleWriterCounter();
  final SingleWriterCounter resent = new SingleWriterCounter();
  final SingleWriterCounter connects = new SingleWriterCounter();
  final SingleWriterCounter[] hops = new SingleWriterCounter[MOST_HOPS];

  LaneCounters() {
    for (int i = 0; i < MOST_HOPS; i++) {
      hops[i] = new SingleWriterCounter();
    }
  }

  void hops(int n) {
    hops[Math.min(n, MOST_HOPS) - 1].add(1);
  }
}
