package io.eventbus.server.call;

/**
 * What another bus asks of one service here, by one stream: how many of its calls are open, how
 * many wait there, and how many it may have open. Confined to the loop of the stream.
 *
 * <p>All that ask share what the members here may have at once, and a quarter more, so that a place
 * that becomes free has a call waiting next to it. As long as that is enough for all, each gets
 * what is left, but no more than twice what it asks for; else its equal part or the part that it
 * asks for of all, whichever is more, and at least one: so the bus holds at most about twice what
 * its members may have, and a call for each that asks.
 */
public final class PeerDemand {
  /** How many calls another bus may have open that has not been told how many. */
  public static final int FIRST_GRANT = 4;

  /** How long what is known of the members is used. */
  private static final long ESTIMATE_NANOS = 10_000_000;

  private final LoopCalls calls;
  private final LocalService service;
  private int open;
  private int queued;
  private int places;
  private int taken;
  private long estimatedAt;
  private boolean closed;

  PeerDemand(LoopCalls calls, ServiceKey service) {
    this.calls = calls;
    this.service = calls.directory().join(service);
    this.estimatedAt = calls.now() - ESTIMATE_NANOS;
  }

  /** A call has come. */
  public void began(int queuedThere) {
    if (open++ == 0) {
      service.askers().incrementAndGet();
    }
    queued(queuedThere);
  }

  /** A call has its answer. */
  public void ended() {
    if (--open == 0) {
      service.askers().decrementAndGet();
      // It can only wait for the answers of others now.
      queued(0);
    }
  }

  /** The other bus has used up what it may have open. */
  public void queued(int queuedThere) {
    int now = open == 0 ? 0 : queuedThere;
    service.queuedElsewhere().addAndGet(now - queued);
    queued = now;
  }

  /**
   * Returns how many calls the other bus may have open.
   *
   * @return at least 1; 0 if nobody serves it here
   */
  public int grant() {
    if (!service.isServedHere()) {
      return 0;
    }
    estimate();
    long all = places + (places + 3L) / 4;
    long asks = Math.max(1L, open + queued);
    long most = Math.max(FIRST_GRANT, 2 * asks);
    long asked = taken + service.queued().get() + service.queuedElsewhere().get();
    long part;
    if (asked <= all) {
      part = all - Math.max(0, asked - asks);
    } else {
      int sharers = service.askers().get() + (service.waiting().any() ? 1 : 0);
      part = Math.max(all / Math.max(1, sharers), all * asks / asked);
    }
    return (int) Math.max(1, Math.min(most, part));
  }

  private void estimate() {
    long now = calls.now();
    if (now - estimatedAt < ESTIMATE_NANOS) {
      return;
    }
    estimatedAt = now;
    places = 0;
    taken = 0;
    for (ServiceMember member : service.members()) {
      places += member.window().limit();
      taken += member.window().outstanding();
    }
  }

  /**
   * Returns how many of its calls are open here.
   *
   * @return at least 0
   */
  public int open() {
    return open;
  }

  /** It asks no more; a second call does nothing. */
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (open > 0) {
      service.askers().decrementAndGet();
      open = 0;
    }
    queued(0);
    calls.directory().leave(service);
  }
}
