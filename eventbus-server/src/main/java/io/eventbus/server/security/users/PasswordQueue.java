package io.eventbus.server.security.users;

import io.eventbus.server.security.Origin.Standing;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Queue of passwords that wait for one of a few threads. Those of better standing go first, and
 * each standing has a bound of its own, so that guessers delay only each other. Any thread.
 */
final class PasswordQueue implements AutoCloseable {
  /** Maximum number of waiting checks of each standing. */
  static final int MAX_WAITING = 64;

  private final int atATime;
  private final ThreadPoolExecutor threads;
  // Best standing first; guarded by this, as is the number of workers.
  private final Map<Standing, Deque<Runnable>> waiting = new EnumMap<>(Standing.class);
  private int workers;

  PasswordQueue(int atATime) {
    this.atATime = atATime;
    // Only workers wait here: never more than a few.
    this.threads =
        new ThreadPoolExecutor(
            atATime,
            atATime,
            1,
            TimeUnit.MINUTES,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "eventbus-passwords");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Adds a check; returns false if as many wait as may, or the queue is closed.
   *
   * @param check must not throw
   */
  synchronized boolean add(Standing standing, Runnable check) {
    Deque<Runnable> equals = of(standing);
    if (equals.size() >= MAX_WAITING || threads.isShutdown()) {
      return false;
    }
    equals.add(check);
    if (workers < atATime) {
      workers++;
      threads.execute(this::work);
    }
    return true;
  }

  /** Removes a check; returns false if it has begun. */
  synchronized boolean remove(Standing standing, Runnable check) {
    return of(standing).remove(check);
  }

  private Deque<Runnable> of(Standing standing) {
    return waiting.computeIfAbsent(standing, key -> new ArrayDeque<>());
  }

  private void work() {
    for (Runnable check = next(); check != null; check = next()) {
      check.run();
    }
  }

  /** Removes and returns the next check; null ends the worker. */
  private synchronized @Nullable Runnable next() {
    for (Deque<Runnable> equals : waiting.values()) {
      if (!equals.isEmpty()) {
        return equals.remove();
      }
    }
    workers--;
    return null;
  }

  synchronized int size() {
    return waiting.values().stream().mapToInt(Deque::size).sum();
  }

  /** Ends the threads; nothing is checked any more. */
  @Override
  public synchronized void close() {
    threads.shutdownNow();
  }
}
