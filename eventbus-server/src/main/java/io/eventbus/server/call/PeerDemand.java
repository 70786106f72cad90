package io.eventbus.server.call;

/**
 * Demand of a peer for one local service, for one stream: how many of its calls are open, how many
 * wait there, and how many it may have open. Confined to the loop of the stream.
 *
 * <p>All peers share the windows of the members here, and a quarter more, so that a released place
 * has a call waiting next to it. While that suffices for all, each peer gets what is left, but no
 * more than twice its demand; else its equal part or its part of the total demand, whichever is
 * more, and at least one: so the bus holds at most about twice the windows of its members, and a
 * call for each peer.
 */
public final class PeerDemand {
  /** Calls that a peer may have open before it got a grant. */
  public static final int FIRST_GRANT = 4;

  /** Time that an estimate of the members is used for. */
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

  /** Counts a new call. */
  public void began(int queuedThere) {
    if (open++ == 0) {
      service.demandStreams().incrementAndGet();
    }
    queued(queuedThere);
  }

  /** Counts an answered call. */
  public void ended() {
    if (--open == 0) {
      service.demandStreams().decrementAndGet();
      // The peer can only wait for the answers of others now.
      queued(0);
    }
  }

  /** Called when the peer has used up its grant; updates the number of calls that wait there. */
  public void queued(int queuedThere) {
    int now = open == 0 ? 0 : queuedThere;
    service.queuedAtPeers().addAndGet(now - queued);
    queued = now;
  }

  /** Returns how many calls the peer may have open: at least 1, or 0 without members here. */
  public int grant() {
    if (!service.isServedHere()) {
      return 0;
    }
    estimate();
    long all = places + (places + 3L) / 4;
    long asks = Math.max(1L, open + queued);
    long max = Math.max(FIRST_GRANT, 2 * asks);
    long asked = taken + service.queued().get() + service.queuedAtPeers().get();
    long part;
    if (asked <= all) {
      part = all - Math.max(0, asked - asks);
    } else {
      int sharers = service.demandStreams().get() + (service.waiting().any() ? 1 : 0);
      part = Math.max(all / Math.max(1, sharers), all * asks / asked);
    }
    return (int) Math.max(1, Math.min(max, part));
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

  /** Returns how many of its calls are open here. */
  public int open() {
    return open;
  }

  /** Ends the demand; a second call does nothing. */
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (open > 0) {
      service.demandStreams().decrementAndGet();
      open = 0;
    }
    queued(0);
    calls.directory().leave(service);
  }
}
