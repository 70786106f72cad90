package io.eventbus.server.transport;

import io.eventbus.server.call.LoopPort;

/** Port of calls to their loop. Confined to it. */
final class CallPort implements LoopPort {
  private final ConnectionLoop loop;

  CallPort(ConnectionLoop loop) {
    this.loop = loop;
  }

  @Override
  public boolean isCurrent() {
    return loop.eventLoop().inEventLoop();
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public void later(Runnable task, long nanos) {
    loop.later(task, nanos);
  }

  @Override
  public void flushSoon() {
    loop.flushSoon();
  }
}
