package io.eventbus.link;

import java.util.concurrent.atomic.LongAdder;

/** Counts of events on all links of a bus. Any thread counts. */
final class LinkCounters {
  /** Connections that failed in the handshake, or spoke out of turn. */
  final LongAdder strangers = new LongAdder();

  /** Connections that were closed because there were too many. */
  final LongAdder tooMany = new LongAdder();

  /** Limit on the log of refused links. */
  final RareLines refusals = new RareLines(System.nanoTime());

  /** Links that were opened, from either side. */
  final LongAdder opened = new LongAdder();
}
