package io.eventbus.server.federation.call;

import io.eventbus.server.stats.SingleWriterCounter;

/** Counters of the streams of calls of one loop. Only that loop writes; any thread reads. */
final class CallStreamCounters {
  /** Calls given to peers. */
  final SingleWriterCounter callsOut = new SingleWriterCounter();

  /** Calls that peers have sent back because no place was free there. */
  final SingleWriterCounter callsBack = new SingleWriterCounter();

  /** Connects, including reconnects. */
  final SingleWriterCounter connects = new SingleWriterCounter();

  /** Frames sent again after a cut. */
  final SingleWriterCounter resent = new SingleWriterCounter();
}
