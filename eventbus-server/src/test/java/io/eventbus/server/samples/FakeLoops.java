package io.eventbus.server.samples;

import io.eventbus.server.delivery.Loops;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.IntConsumer;

/** Loops whose tasks run when the test says so. For one thread. */
public final class FakeLoops implements Loops {
  private final List<Queue<Runnable>> tasks = new ArrayList<>();
  private final int[] submitted;
  private IntConsumer handOver = loop -> {};
  private boolean ended;

  /** Creates idle loops. */
  public FakeLoops(int count) {
    submitted = new int[count];
    for (int i = 0; i < count; i++) {
      tasks.add(new ArrayDeque<>());
    }
  }

  @Override
  public int count() {
    return tasks.size();
  }

  @Override
  public Executor executor(int loop) {
    return task -> {
      if (ended) {
        throw new RejectedExecutionException("the loop has ended");
      }
      submitted[loop]++;
      tasks.get(loop).add(task);
    };
  }

  @Override
  public void handOver(int loop) {
    handOver.accept(loop);
  }

  /** Sets what a hand-over does. */
  public void onHandOver(IntConsumer action) {
    handOver = action;
  }

  /** Runs the next task of a loop; false when there is none. */
  public boolean runOne(int loop) {
    Runnable task = tasks.get(loop).poll();
    if (task == null) {
      return false;
    }
    task.run();
    return true;
  }

  /** Runs all tasks, also those that come while they run. */
  public void runAll() {
    boolean ran = true;
    while (ran) {
      ran = false;
      for (int i = 0; i < tasks.size(); i++) {
        ran |= runOne(i);
      }
    }
  }

  /** Returns the number of tasks that a loop was ever given. */
  public int submitted(int loop) {
    return submitted[loop];
  }

  /** Returns the number of waiting tasks. */
  public int waiting(int loop) {
    return tasks.get(loop).size();
  }

  /** Refuses tasks from now on. */
  public void end() {
    ended = true;
  }
}
