package io.eventbus.server.call;

/** Service as one loop knows it. Confined to the loop. */
final class LoopService {
  /** Minimum interval of demand announcements to peers, unless the demand doubles. */
  private static final long DEMAND_NANOS = 10_000_000;

  final LocalService service;

  /** Name in UTF-8. */
  final NameKey key;

  final ServiceQueue queue;

  /** Calls of peers, which only local members may have. */
  final ServiceQueue localQueue;

  final RetryBudget retries;

  /** Peers that serve it, by streams of this loop. Replaced when they change. */
  ServiceMember[] peers;

  /** True when the loop has forgotten it: there may be another of the same name. */
  boolean dropped;

  // Number of waiting calls that was announced to peers last, and when.
  private int demanded;
  private long demandedAt;

  LoopService(
      LocalService service,
      NameKey key,
      int loop,
      int retryPercent,
      ServiceMember[] peers,
      long nowNanos) {
    this.service = service;
    this.key = key;
    this.peers = peers;
    this.queue = new ServiceQueue(service.waiting(), loop);
    this.localQueue = new ServiceQueue(service.localWaiting(), loop);
    this.retries = new RetryBudget(retryPercent, nowNanos);
  }

  /**
   * Announces to peers how many calls wait, if the number has doubled since the last announcement,
   * or after some time.
   */
  void announceDemand(long nowNanos) {
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
