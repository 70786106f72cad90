package io.eventbus.server.transport;

import io.eventbus.server.routing.BusMemory;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * At the bus's memory limit first gives up what waits for buses that cannot be reached, then closes
 * the connections that hold the most, one after another, until there is room again.
 *
 * <p>Each loop looks for its biggest connection on its own thread; the biggest of these goes. That
 * is repeated only after it has had an effect, so that one burst does not cost many connections.
 */
final class MemoryPressure implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryPressure.class);

  private final BusMemory memory;
  private final List<LoopState> loops;
  private final BooleanSupplier others;
  private final AtomicBoolean working = new AtomicBoolean();

  /**
   * Makes one that has nothing to do yet.
   *
   * @param others gives up another bus, if it can
   */
  MemoryPressure(BusMemory memory, List<LoopState> loops, BooleanSupplier others) {
    this.memory = memory;
    this.loops = loops;
    this.others = others;
  }

  /** Called at every reservation above the limit, by any thread. */
  @Override
  public void run() {
    if (!working.get() && working.compareAndSet(false, true)) {
      new Search().start();
    }
  }

  /** Asks the loops one after the other, then closes the biggest. */
  private final class Search {
    private LoopState.@Nullable Ticking biggest;
    private int biggestLoop;
    private long bytes;

    void start() {
      ask(0);
    }

    private void ask(int i) {
      execute(
          i,
          () -> {
            for (LoopState.Ticking connection : loops.get(i).connections()) {
              if (connection.heldBytes() > bytes) {
                biggest = connection;
                biggestLoop = i;
                bytes = connection.heldBytes();
              }
            }
            if (i + 1 < loops.size()) {
              ask(i + 1);
            } else {
              execute(biggestLoop, this::evict);
            }
          });
    }

    private void evict() {
      LoopState.Ticking victim = biggest;
      boolean relieved = memory.isOver() && others.getAsBoolean();
      if (!relieved && memory.isOver() && victim != null) {
        LOG.warn(
            "memory limit of {} bytes reached: closing the connection that holds the most, {} bytes",
            memory.limit(),
            bytes);
        victim.evict();
      }
      working.set(false);
      if (memory.isOver() && (relieved || victim != null)) {
        MemoryPressure.this.run();
      }
    }

    private void execute(int loop, Runnable task) {
      try {
        loops.get(loop).eventLoop().execute(task);
      } catch (RejectedExecutionException e) {
        working.set(false);
      }
    }
  }
}
