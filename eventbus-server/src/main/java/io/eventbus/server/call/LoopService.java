package io.eventbus.server.call;

import io.eventbus.server.call.dispatch.QueuedService;
import io.eventbus.server.call.dispatch.RetryBudget;
import io.eventbus.server.call.dispatch.ServiceQueue;

/** Service as one loop knows it. Confined to the loop. */
final class LoopService implements QueuedService {
  /** Minimum interval of demand announcements to peers, unless the demand doubles. */
  private static final long DEMAND_NANOS = 10_000_000;

  final LocalService service;

  /** Name in UTF-8. */
  final NameKey key;

  final RetryBudget retries;

  /** Peers that serve it, by streams of this loop. Replaced when they change. */
  ServiceMember[] peers;

  /** True when the loop has forgotten it: there may be another of the same name. */
  boolean dropped;

  private final LoopServices owner;
  private final ServiceQueue queue;
  // Calls of peers, which only local members may have.
  private final ServiceQueue localQueue;
  // Number of waiting calls that was announced to peers last, and when.
  private int demanded;
  private long demandedAt;

  LoopService(
      LoopServices owner,
      LocalService service,
      NameKey key,
      int loop,
      int retryPercent,
      ServiceMember[] peers,
      long nowNanos) {
    this.owner = owner;
    this.service = service;
    this.key = key;
    this.peers = peers;
    this.queue = new ServiceQueue(service.waiting(), loop);
    this.localQueue = new ServiceQueue(service.localWaiting(), loop);
    this.retries = new RetryBudget(retryPercent, nowNanos);
  }

  @Override
  public LocalService service() {
    return service;
  }

  @Override
  public ServiceQueue queue() {
    return queue;
  }

  @Override
  public ServiceQueue localQueue() {
    return localQueue;
  }

  @Override
  public ServiceMember[] peers() {
    return peers;
  }

  @Override
  public void forgetIfIdle() {
    owner.forgetIdle(this);
  }

  /** Announces the demand if it has doubled since the last announcement, or after some time. */
  @Override
  public void announceDemand(long nowNanos) {
    int queued = queue.size();
    if (queued >= 2 * demanded || nowNanos - demandedAt >= DEMAND_NANOS) {
      demanded = queued;
      demandedAt = nowNanos;
      for (ServiceMember bus : peers) {
        bus.announceDemand(queued);
      }
    }
  }
}
