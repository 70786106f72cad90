package io.eventbus.server.federation.lane;

/**
 * Schedule of a lane's connection attempts: 50 ms to 2 s after a failure, with jitter. Confined to
 * its loop.
 */
public final class Reconnect {
  private static final long MIN_PAUSE_NANOS = 50_000_000;
  private static final long MAX_PAUSE_NANOS = 2_000_000_000;

  private final LaneLoop loop;
  private long pause = MIN_PAUSE_NANOS;
  private long dueAt;
  private boolean waiting;

  public Reconnect(LaneLoop loop) {
    this.loop = loop;
  }

  public boolean isDue(long now) {
    return !waiting || now - dueAt >= 0;
  }

  public void failed(long now) {
    waiting = true;
    // Between half of the pause and all of it, so that many do not reconnect at once.
    dueAt = now + pause / 2 + (long) (loop.random().nextDouble() * pause / 2);
    pause = Math.min(MAX_PAUSE_NANOS, pause * 2);
  }

  public void succeeded() {
    waiting = false;
    pause = MIN_PAUSE_NANOS;
  }
}
