package io.eventbus.server.delivery;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Barrier that is passed when every loop has finished its current task and handed over what it had
 * collected.
 *
 * <p>A subscription that is out of the index can still be in a route that another loop uses in this
 * very read cycle. Once each loop has run a task and then handed over to the asking loop, nothing
 * of that is on its way any more.
 */
public final class LoopBarrier {
  private final Loops loops;
  // For each loop the requests that the others have not been asked for yet; null for none.
  private final @Nullable List<Runnable>[] asking;

  /** Creates a barrier. */
  @SuppressWarnings({"unchecked", "rawtypes"}) // An array of lists has no other type.
  public LoopBarrier(Loops loops) {
    this.loops = loops;
    this.asking = new List[loops.count()];
  }

  /**
   * Runs a task on a loop when all deliveries that any loop had created for it before this call
   * have been offered there. The other loops are asked once for all tasks of one turn of the loop.
   *
   * @param task not run if the bus ends before
   */
  public void afterAll(int loop, Runnable task) {
    synchronized (asking) {
      List<Runnable> others = asking[loop];
      if (others != null) {
        others.add(task);
        return;
      }
      List<Runnable> first = new ArrayList<>(1);
      first.add(task);
      asking[loop] = first;
    }
    execute(loop, () -> ask(loop));
  }

  private void ask(int loop) {
    List<Runnable> tasks;
    synchronized (asking) {
      tasks = asking[loop];
      asking[loop] = null;
    }
    if (tasks == null) {
      return;
    }
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
                    // Each by itself: one that fails keeps no other from running.
                    tasks.forEach(task -> execute(loop, task));
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
