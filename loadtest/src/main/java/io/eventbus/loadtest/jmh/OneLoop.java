package io.eventbus.loadtest.jmh;

import io.eventbus.server.delivery.Loops;
import java.util.concurrent.Executor;

/** The benchmark's thread as the only event loop of a bus. */
final class OneLoop implements Loops {
  @Override
  public int count() {
    return 1;
  }

  @Override
  public Executor executor(int loop) {
    return Runnable::run;
  }

  @Override
  public void handOver(int loop) {}
}
