package io.eventbus.server.call;

/** A service as one loop knows it. Confined to the loop. */
final class LoopService {
  /** How long an estimate of the service's speed is used. */
  private static final long ESTIMATE_NANOS = 10_000_000;

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

  private double speed;
  private double sum;
  private int known;
  private int working;
  private long estimatedAt;

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
    this.estimatedAt = nowNanos - ESTIMATE_NANOS;
  }

  /** How many calls all members do in a nanosecond, by estimate; 0 if that is not known. */
  double speed(long nowNanos) {
    if (nowNanos - estimatedAt >= ESTIMATE_NANOS) {
      estimatedAt = nowNanos;
      sum = 0;
      known = 0;
      working = 0;
      add(service.members(), nowNanos);
      add(far, nowNanos);
      // A member of which nothing is known yet is taken for one like the others.
      speed = known == 0 ? 0 : sum * working / known;
    }
    return speed;
  }

  private void add(ServiceMember[] members, long nowNanos) {
    for (ServiceMember member : members) {
      if (member.window().limit() > 0) {
        working++;
        double one = member.speed(nowNanos);
        known += one > 0 ? 1 : 0;
        sum += one;
      }
    }
  }
}
