package io.eventbus.server.federation.call;

import io.eventbus.server.stats.SingleWriterCounter;

/** What the streams of calls of one loop have done. Only that loop writes; any thread reads. */
final class CallStreamCounters {
  /** Calls given to other buses. */
  final SingleWriterCounter callsOut = new SingleWriterCounter();

  /** Calls that other buses have sent back because no place was free there. */
  final SingleWriterCounter callsBack = new SingleWriterCounter();

  /** Streams that came up, again or for the first time. */
  final SingleWriterCounter connects = new SingleWriterCounter();

  /** Frames sent again after a cut. */
  final SingleWriterCounter resent = new SingleWriterCounter();
}
