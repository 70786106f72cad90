package io.eventbus.server.routing;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * What the indexes of all accounts of a bus share: the bounds, which are those of the bus, and the
 * routes, each of which is one account's, because no stamp is given twice. Any thread.
 */
final class BusRoutes {
  final int loops;

  /** Bytes: half of it for routes, half for the topics that loops remember. */
  final long limit;

  final RouteTable routes;
  final Route nobody;
  final RebuildBudget rebuilds = new RebuildBudget();
  final LongAdder topicBytes = new LongAdder();
  final LongAdder topicCount = new LongAdder();

  /** What the subscriptions of all sessions take of the heap. */
  final AtomicLong subscriptionBytes = new AtomicLong();

  private final AtomicLong stamps = new AtomicLong();

  BusRoutes(int loops, long limit) {
    this.loops = loops;
    this.limit = limit;
    this.routes = new RouteTable(limit / 2);
    this.nobody = Route.ofNobody(loops);
  }

  /** A stamp that no set of subscriptions has had, of whatever account. */
  long nextStamp() {
    return stamps.incrementAndGet();
  }
}
