package io.eventbus.server.federation.lane;

/** When a lane tries again: 50 ms to 2 s after a failure, with jitter. Confined to its loop. */
public final class Reconnect {
  private static final long MIN = 50_000_000;
  private static final long MAX = 2_000_000_000;

  private final LaneLoop loop;
  private long pause = MIN;
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
    // Between half of the pause and all of it, so that many do not come back at once.
    dueAt = now + pause / 2 + (long) (loop.random().nextDouble() * pause / 2);
    pause = Math.min(MAX, pause * 2);
  }

  public void succeeded() {
    waiting = false;
    pause = MIN;
  }
}
