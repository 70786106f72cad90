package io.eventbus.server.transport;

import io.eventbus.server.config.TimeoutsConfig;

/**
 * Heartbeat of a client: when a ping is due, and when the client has been silent for too long after
 * it. Confined to its connection's loop.
 */
final class Heartbeat {
  /** Action that is due. */
  enum Due {
    NOTHING,
    PING,
    CLOSE
  }

  private final long intervalNanos;
  private final long pongNanos;
  private long askedAt;
  private boolean waiting;

  Heartbeat(TimeoutsConfig timeouts, long nowNanos) {
    intervalNanos = timeouts.pingInterval().toNanos();
    pongNanos = timeouts.pong().toNanos();
    askedAt = nowNanos;
  }

  /** Notes bytes from the client, which are a sign of life. */
  void heard() {
    waiting = false;
  }

  /**
   * Notes that the client takes bytes, also a sign of life while its pong is behind much else; it
   * does not answer a ping.
   */
  void took(long nowNanos) {
    if (waiting) {
      askedAt = nowNanos;
    }
  }

  /** Restarts the times after a pause in which nothing was read. */
  void restart(long nowNanos) {
    askedAt = nowNanos;
    waiting = false;
  }

  /** Returns the action that is due; a ping counts as sent. */
  Due check(long nowNanos) {
    if (waiting) {
      return nowNanos - askedAt > pongNanos ? Due.CLOSE : Due.NOTHING;
    }
    if (nowNanos - askedAt <= intervalNanos) {
      return Due.NOTHING;
    }
    waiting = true;
    askedAt = nowNanos;
    return Due.PING;
  }
}
