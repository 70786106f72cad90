package io.eventbus.server.call;

/** A service as one loop knows it. Confined to the loop. */
final class LoopService {
  final Service service;

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

  LoopService(
      Service service,
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
}
