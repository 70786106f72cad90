package io.eventbus.link;

import io.eventbus.base.RateLimitedLog;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.LoggerFactory;

/** Counts of events on all links of a bus. Any thread counts. */
final class LinkCounters {
  /** Connections that failed in the handshake, or sent a frame out of order. */
  final LongAdder strangers = new LongAdder();

  /** Connections that were closed because there were too many. */
  final LongAdder tooMany = new LongAdder();

  /** Log of refused links. */
  final RateLimitedLog refusals =
      new RateLimitedLog(LoggerFactory.getLogger(ServerHandshake.class));

  /** Links that were opened, from either side. */
  final LongAdder opened = new LongAdder();
}
