package io.eventbus.server.durable;

import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Consumers of one journal and loop that wait for its next event. Confined to the loop except for
 * {@link #wake}.
 */
final class LoopWaiters {
  /** Duration of one turn on the loop. */
  private static final long TURN_NANOS = 1_000_000;

  private final Executor loop;
  private final Set<JournalConsumer> waiting = new LinkedHashSet<>();
  private final Queue<JournalConsumer> due = new ArrayDeque<>();
  private final AtomicBoolean wanted = new AtomicBoolean();

  LoopWaiters(Executor loop) {
    this.loop = loop;
  }

  /** Adds a consumer, which then looks once more whether there is something. */
  void add(JournalConsumer consumer) {
    waiting.add(consumer);
    wanted.set(true);
  }

  void remove(JournalConsumer consumer) {
    waiting.remove(consumer);
  }

  /** Lets those that wait go on; any thread. */
  void wake() {
    if (wanted.get() && wanted.compareAndSet(true, false)) {
      execute();
    }
  }

  private void execute() {
    try {
      loop.execute(this::turn);
    } catch (RejectedExecutionException e) {
      // The bus has ended.
      due.clear();
    }
  }

  private void turn() {
    due.addAll(waiting);
    waiting.clear();
    long end = System.nanoTime() + TURN_NANOS;
    for (JournalConsumer next = due.poll(); next != null; next = due.poll()) {
      next.advance();
      if (!due.isEmpty() && System.nanoTime() - end >= 0) {
        execute();
        return;
      }
    }
  }
}
