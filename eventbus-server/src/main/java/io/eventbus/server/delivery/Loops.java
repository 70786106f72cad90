package io.eventbus.server.delivery;

import java.util.concurrent.Executor;

/**
 * Event loops of a bus: numbered from 0, each a thread that runs its tasks in order.
 *
 * <p>{@link Executor#execute} of a loop must not block; it may throw {@link
 * java.util.concurrent.RejectedExecutionException} once the bus is shut down.
 */
public interface Loops {
  /** Returns the number of loops, at least 1. */
  int count();

  /** Returns one of them. */
  Executor executor(int loop);

  /** Hands over at once what the loop has collected for others. Called in that loop's thread. */
  void handOver(int loop);
}
