package io.eventbus.server.routing;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tells when every loop has finished what it was doing and has handed over what it had collected.
 *
 * <p>A subscription that is out of the index can still be in a route that another loop is using in
 * this very read cycle. Once each loop has run a task and then handed over to the asking loop,
 * nothing of that is on its way any more.
 */
public final class LoopBarrier {
  private final Loops loops;

  /**
   * Makes a barrier.
   *
   * @param loops all loops
   */
  public LoopBarrier(Loops loops) {
    this.loops = loops;
  }

  /**
   * Runs a task on a loop when all deliveries that any loop had made for it before this call have
   * been offered there.
   *
   * @param loop the loop to run on
   * @param task what to run; not run if the bus ends before
   */
  public void afterAll(int loop, Runnable task) {
    AtomicInteger left = new AtomicInteger(loops.count());
    for (int i = 0; i < loops.count(); i++) {
      int source = i;
      execute(
          i,
          () -> {
            loops.handOver(source);
            // Behind the hand-over in the destination's queue of tasks.
            execute(
                loop,
                () -> {
                  if (left.decrementAndGet() == 0) {
                    task.run();
                  }
                });
          });
    }
  }

  private void execute(int loop, Runnable task) {
    try {
      loops.executor(loop).execute(task);
    } catch (RejectedExecutionException e) {
      // The bus has ended: nobody is left to be told.
      return;
    }
  }
}
