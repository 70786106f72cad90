package io.eventbus.server.subscription;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * State that the indexes of all accounts of a bus share: the bounds, which are those of the bus,
 * and the routes, each of which belongs to one account, because no stamp is given twice. Any
 * thread.
 */
public final class BusRoutes {
  final int loops;

  /** Limit in bytes: half of it for routes, half for the topics that loops remember. */
  final long limit;

  final RouteTable routes;
  final Route nobody;
  final RebuildBudget rebuilds = new RebuildBudget();
  final LongAdder topicBytes = new LongAdder();
  final LongAdder topicCount = new LongAdder();

  /** Heap for the subscriptions of all sessions. */
  final AtomicLong subscriptionBytes = new AtomicLong();

  private final AtomicLong stamps = new AtomicLong();

  BusRoutes(int loops, long limit) {
    this.loops = loops;
    this.limit = limit;
    this.routes = new RouteTable(limit / 2);
    this.nobody = Route.ofNobody(loops);
  }

  /** Returns the route of a topic without subscribers. */
  public Route nobody() {
    return nobody;
  }

  /** Counts topics that a loop remembers, or no longer does. */
  public void countTopics(int by) {
    topicCount.add(by);
  }

  /** Counts the heap of topics that a loop remembers. */
  public void countTopicBytes(long by) {
    topicBytes.add(by);
  }

  /** Returns a stamp that no set of subscriptions of any account has had. */
  long nextStamp() {
    return stamps.incrementAndGet();
  }
}
