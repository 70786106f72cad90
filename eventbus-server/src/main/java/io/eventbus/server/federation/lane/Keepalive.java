package io.eventbus.server.federation.lane;

import io.eventbus.server.config.FederationConfig;

/** Times when one end of a lane last received and last sent something. Confined to one thread. */
public final class Keepalive {
  private final long heartbeat;
  private final long silence;
  private long receivedAt;
  private long sentAt;

  public Keepalive(FederationConfig config, long now) {
    this.heartbeat = config.heartbeat().toNanos();
    this.silence = config.keepaliveTimeout().toNanos();
    this.receivedAt = now;
    this.sentAt = now;
  }

  public void received(long now) {
    receivedAt = now;
  }

  public void sent(long now) {
    sentAt = now;
  }

  /** Returns whether the other end has been silent for too long. */
  public boolean isSilent(long now) {
    return now - receivedAt > silence;
  }

  /** Returns the time until a keepalive from here is due. */
  long untilDue(long now) {
    return heartbeat - (now - sentAt);
  }

  /**
   * Returns whether a keepalive may be sent early together with others. So the keepalives of a loop
   * are sent together, and the loop does not wake for each.
   */
  boolean isNearlyDue(long now) {
    return untilDue(now) <= heartbeat / 2;
  }

  /** Returns the time until the silence of the other end has to be checked. */
  long untilSilent(long now) {
    return silence - (now - receivedAt);
  }
}
