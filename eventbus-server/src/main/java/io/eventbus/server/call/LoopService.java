package io.eventbus.server.call;

/** A service as one loop knows it. Confined to the loop. */
final class LoopService {
  /** How often other buses are told at most that calls wait, unless they double. */
  private static final long DEMAND_NANOS = 10_000_000;

  final LocalService service;

  /** The name in UTF-8. */
  final NameKey key;

  final ServiceQueue queue;

  /** Calls of other buses, which only members of this one may have. */
  final ServiceQueue home;

  final RetryBudget retries;

  /** The other buses that serve it, by streams of this loop. Replaced when they change. */
  ServiceMember[] far;

  /** The loop has forgotten it: there may be another of the same name. */
  boolean dropped;

  // Number of waiting calls that the other buses were told last, and when.
  private int demanded;
  private long demandedAt;

  LoopService(
      LocalService service,
      NameKey key,
      int loop,
      int retryPercent,
      ServiceMember[] far,
      long nowNanos) {
    this.service = service;
    this.key = key;
    this.far = far;
    this.queue = new ServiceQueue(service.waiting(), loop);
    this.home = new ServiceQueue(service.homeWaiting(), loop);
    this.retries = new RetryBudget(retryPercent, nowNanos);
  }

  /**
   * Tells the other buses how many calls wait, where these have doubled since they were told last,
   * or after some time.
   */
  void want(long nowNanos) {
    int queued = queue.size();
    if (queued >= 2 * demanded || nowNanos - demandedAt >= DEMAND_NANOS) {
      demanded = queued;
      demandedAt = nowNanos;
      for (ServiceMember bus : far) {
        bus.want(queued);
      }
    }
  }
}
