package io.eventbus.server.federation.lane;

import io.eventbus.server.config.FederationConfig;

/** When one end of a lane was last heard of, and when it last said something. For one thread. */
public final class Keepalive {
  private final long heartbeat;
  private final long silence;
  private long heardAt;
  private long saidAt;

  public Keepalive(FederationConfig config, long now) {
    this.heartbeat = config.heartbeat().toNanos();
    this.silence = config.keepaliveTimeout().toNanos();
    this.heardAt = now;
    this.saidAt = now;
  }

  public void heard(long now) {
    heardAt = now;
  }

  public void said(long now) {
    saidAt = now;
  }

  /** Whether the other end has said nothing for too long. */
  public boolean isSilent(long now) {
    return now - heardAt > silence;
  }

  /** For how long the other end may go on without a sign from here; none is due above zero. */
  long untilDue(long now) {
    return heartbeat - (now - saidAt);
  }

  /**
   * Whether it is time for a sign when others are given one anyway. Those of a loop so come to be
   * given together, and not each at a moment of its own, for which the loop would have to wake.
   */
  boolean isNearlyDue(long now) {
    return untilDue(now) <= heartbeat / 2;
  }

  /** For how long it need not be checked whether the other end is silent. */
  long untilSilent(long now) {
    return silence - (now - heardAt);
  }
}
