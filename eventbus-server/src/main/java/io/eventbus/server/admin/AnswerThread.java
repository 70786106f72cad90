package io.eventbus.server.admin;

import io.eventbus.server.admission.ClientAddress;
import io.eventbus.server.queue.FairTurns;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Thread that computes answers one at a time, so that a crowd that asks for long lists takes one
 * processor at most: one answer for each client address in turn. Any thread.
 */
final class AnswerThread implements AutoCloseable {
  /** Maximum of requests that wait, of all addresses. */
  static final int MAX_WAITING = 768;

  /** Maximum of requests of one address that wait. */
  static final int MAX_OF_ADDRESS = 256;

  private static final long IDLE_SECONDS = 30;

  private final ThreadPoolExecutor thread =
      new ThreadPoolExecutor(
          1,
          1,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          task -> {
            Thread made = new Thread(task, "eventbus-admin-answers");
            made.setDaemon(true);
            return made;
          });

  /** Waiting tasks, guarded by itself; the thread's own queue has a turn for each of them. */
  private final FairTurns waiting = new FairTurns();

  AnswerThread() {
    thread.allowCoreThreadTimeOut(true);
  }

  /**
   * Runs a task in the turn of its address.
   *
   * @param task computes and does not wait; must not throw
   * @throws RejectedExecutionException if too many wait, or the thread has been closed
   */
  void execute(ClientAddress address, Runnable task) {
    synchronized (waiting) {
      if (waiting.size() >= MAX_WAITING || waiting.size(address) >= MAX_OF_ADDRESS) {
        throw new RejectedExecutionException(
            "too many requests wait (expected: at most "
                + MAX_OF_ADDRESS
                + " of an address, "
                + MAX_WAITING
                + " of all)");
      }
      waiting.add(address, task);
    }
    thread.execute(this::runNext);
  }

  private void runNext() {
    Runnable next;
    synchronized (waiting) {
      next = waiting.poll();
    }
    if (next != null) {
      next.run();
    }
  }

  /** Ends; what waits is not run. */
  @Override
  public void close() {
    thread.shutdownNow();
  }
}
