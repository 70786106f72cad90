package io.eventbus.link;

import java.util.concurrent.atomic.LongAdder;

/** What happened on all links of a bus. Any thread counts. */
final class LinkCounters {
  /** Connections that did not get through the handshake, or spoke out of turn. */
  final LongAdder strangers = new LongAdder();

  /** Connections that were closed because there were too many. */
  final LongAdder tooMany = new LongAdder();

  /** Refused links that are told. */
  final RareLines refusals = new RareLines(System.nanoTime());

  /** Links that were opened, from either side. */
  final LongAdder opened = new LongAdder();
}
