package io.eventbus.client.internal.base;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executor of stages: completes them on the application's executor, one at a time and in the order
 * in which they were added. Any thread may use it.
 *
 * <p>Code that depends on a stage runs where the stage is completed, and may block, even on another
 * stage of this client. So {@link #look} has to be called from time to time: a thread without
 * progress since the last look is replaced by another one, which goes on with the next stage. The
 * replaced thread stops when it comes back, so that stages are completed one at a time again.
 */
public final class Completions {
  private static final Logger LOG = LoggerFactory.getLogger(Completions.class);

  /** Stages that are completed one after the other. */
  public interface Stages {
    /**
     * Completes the next stage; returns false if there was none left. The threads that call it take
     * turns, but the one before may still be in it.
     */
    boolean completeNext();
  }

  private final Executor executor;
  private final Deque<Stages> waiting = new ArrayDeque<>();
  // Written under the lock of this object.
  private volatile @Nullable Run current;
  private long timesBlocked;

  // The run and its steps at the last look.
  private @Nullable Run seen;
  private long seenSteps;
  private int looksWithoutProgress;

  Completions(Executor executor) {
    this.executor = executor;
  }

  /** Adds a single stage. */
  void addOne(Runnable completion) {
    add(new One(completion));
  }

  void add(Stages stages) {
    Run begun = null;
    synchronized (this) {
      waiting.add(stages);
      if (current == null) {
        begun = new Run();
        current = begun;
      }
    }
    if (begun != null) {
      start(begun);
    }
  }

  private void start(Run run) {
    try {
      executor.execute(run);
    } catch (RuntimeException e) {
      // The application has shut its executor down. Stages must complete all the same.
      LOG.debug("the executor refuses tasks: using a thread of our own", e);
      startThread(run);
    }
  }

  private static void startThread(Run run) {
    Thread thread = new Thread(run, "eventbus-completions");
    thread.setDaemon(true);
    thread.start();
  }

  private synchronized @Nullable Stages next(Run run, @Nullable Stages done) {
    if (current != run) {
      return null;
    }
    if (done != null) {
      waiting.poll();
    }
    Stages next = waiting.peek();
    if (next == null) {
      current = null;
    }
    return next;
  }

  synchronized boolean isIdle() {
    return current == null;
  }

  /**
   * Replaces the thread that completes stages by another one if it is blocked, or was not started
   * by the executor. To be called at intervals.
   *
   * @param maxLooks number of looks after which a thread of our own replaces an executor that has
   *     not run anything; 0 for not using the executor any more
   */
  void look(int maxLooks) {
    Run to;
    boolean ownThread;
    long blocked = 0;
    synchronized (this) {
      Run from = current;
      long steps = from == null ? 0 : from.steps.get();
      boolean stuck = from != null && from == seen && steps == seenSteps;
      looksWithoutProgress = stuck ? looksWithoutProgress + 1 : 0;
      seen = from;
      seenSteps = steps;
      if (from == null || !stuck) {
        return;
      }
      ownThread = maxLooks == 0 || (!from.started && looksWithoutProgress >= maxLooks);
      if (!from.started && !ownThread) {
        return;
      }
      if (from.started) {
        blocked = ++timesBlocked;
      }
      to = new Run();
      current = to;
      seen = to;
      seenSteps = 0;
      looksWithoutProgress = 0;
    }
    if (Long.bitCount(blocked) == 1) {
      LOG.warn(
          "what depends on a stage blocks the thread that completes stages ({} times so far):"
              + " another one goes on. Use thenCompose instead of join, and the methods of"
              + " CompletionStage that end in Async for what blocks",
          blocked);
    }
    if (ownThread) {
      startThread(to);
    } else {
      start(to);
    }
  }

  /** Turn of one thread at completing stages. */
  private final class Run implements Runnable {
    volatile boolean started;
    // Written by the running thread only.
    final AtomicLong steps = new AtomicLong();

    @Override
    public void run() {
      started = true;
      Stages stages = next(this, null);
      while (stages != null) {
        boolean more = true;
        while (more && current == this) {
          more = completeNext(stages);
          steps.lazySet(steps.getPlain() + 1);
        }
        stages = next(this, stages);
      }
    }

    private static boolean completeNext(Stages stages) {
      try {
        return stages.completeNext();
      } catch (RuntimeException | Error e) {
        LOG.warn("a callback of the application failed", e);
        return true;
      }
    }
  }

  /** Single stage. */
  private static final class One implements Stages {
    private @Nullable Runnable completion;

    One(Runnable completion) {
      this.completion = completion;
    }

    private synchronized @Nullable Runnable take() {
      Runnable taken = completion;
      completion = null;
      return taken;
    }

    @Override
    public boolean completeNext() {
      Runnable taken = take();
      if (taken != null) {
        taken.run();
      }
      return taken != null;
    }
  }
}
