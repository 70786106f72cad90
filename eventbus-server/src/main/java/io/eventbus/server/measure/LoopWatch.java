package io.eventbus.server.measure;

import io.eventbus.server.delivery.Loops;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Watch that detects event loops that hang: each gets a small task at every check, and has to have
 * run it some checks later. Counted in checks, not in time, so that a process that was stopped as a
 * whole and goes on is not taken for one that hangs. Checked by one thread, read by any.
 */
public final class LoopWatch {
  /**
   * Number of checks after which a loop hangs. A second lies between checks: shorter pauses are a
   * load, longer ones a fault.
   */
  static final int MAX_CHECKS = 10;

  private final Loops loops;
  private final Consumer<String> onEnd;
  private final List<AtomicInteger> unanswered = new ArrayList<>();
  private volatile List<String> problems = List.of();

  /**
   * Creates a watch.
   *
   * @param loops loops to watch
   * @param onEnd told when a loop has ended, which is for good
   */
  public LoopWatch(Loops loops, Consumer<String> onEnd) {
    this.loops = loops;
    this.onEnd = onEnd;
    for (int i = 0; i < loops.count(); i++) {
      unanswered.add(new AtomicInteger());
    }
  }

  void check() {
    List<String> found = new ArrayList<>();
    for (int i = 0; i < unanswered.size(); i++) {
      AtomicInteger waiting = unanswered.get(i);
      int checks = waiting.getAndIncrement();
      if (checks > MAX_CHECKS) {
        found.add("event loop " + i + " has not done anything for " + checks + " s");
      } else if (checks == 0) {
        ask(i, waiting);
      }
    }
    problems = List.copyOf(found);
  }

  private void ask(int loop, AtomicInteger waiting) {
    try {
      loops.executor(loop).execute(() -> waiting.set(0));
    } catch (RejectedExecutionException e) {
      onEnd.accept("event loop " + loop + " has ended");
    }
  }

  /** Returns the loops that hang, for people; empty when all is well. */
  public List<String> problems() {
    return problems;
  }
}
