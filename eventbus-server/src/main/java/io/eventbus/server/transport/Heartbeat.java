package io.eventbus.server.transport;

import io.eventbus.server.config.TimeoutsConfig;

/**
 * When a client has to be asked whether it lives, and when it has been silent for too long after
 * that. Confined to its connection's loop.
 */
final class Heartbeat {
  /** What is to be done now. */
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

  /** Any bytes from the client are a sign of life. */
  void heard() {
    waiting = false;
  }

  /**
   * So it is when the client takes something, also while its pong is still behind much else; but it
   * does not answer the question.
   */
  void took(long nowNanos) {
    if (waiting) {
      askedAt = nowNanos;
    }
  }

  /** Begins anew, after a time in which nothing was read. */
  void restart(long nowNanos) {
    askedAt = nowNanos;
    waiting = false;
  }

  /** Says what is due; a ping counts as sent. */
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
