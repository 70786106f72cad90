package io.eventbus.link.stream;

/**
 * Times when one end of a connection last received and last sent something. Confined to one thread.
 */
final class Keepalive {
  private final long heartbeat;
  private final long silence;
  private long receivedAt;
  private long sentAt;

  /**
   * Creates the times of a connection that has just been opened.
   *
   * @param heartbeat nanoseconds between keepalives
   * @param silence nanoseconds without a frame after which the other end counts as lost
   */
  Keepalive(long heartbeat, long silence, long now) {
    this.heartbeat = heartbeat;
    this.silence = silence;
    this.receivedAt = now;
    this.sentAt = now;
  }

  void received(long now) {
    receivedAt = now;
  }

  void sent(long now) {
    sentAt = now;
  }

  /** Returns whether the other end has been silent for too long. */
  boolean isSilent(long now) {
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
