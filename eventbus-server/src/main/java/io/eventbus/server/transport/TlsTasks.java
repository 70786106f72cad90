package io.eventbus.server.transport;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads for the arithmetic of TLS handshakes: milliseconds each, in which an event loop would
 * serve no client. When too many tasks wait, a task is refused and its connection ends. Any thread.
 */
final class TlsTasks implements AutoCloseable {
  private static final int WAITING = 1024;

  private final ThreadPoolExecutor threads;
  private final Runnable whenFull;

  /** Creates threads that start on demand. */
  TlsTasks(Runnable whenFull) {
    this(Math.max(1, Runtime.getRuntime().availableProcessors() / 2), WAITING, whenFull);
  }

  TlsTasks(int count, int waiting, Runnable whenFull) {
    this.whenFull = whenFull;
    AtomicInteger number = new AtomicInteger();
    threads =
        new ThreadPoolExecutor(
            count,
            count,
            30,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(waiting),
            task -> {
              Thread thread = new Thread(task, "eventbus-tls-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /** Returns what runs the tasks of one connection; once it has refused one it refuses all. */
  Executor forConnection() {
    return new Connection();
  }

  private final class Connection implements Executor {
    private boolean refused;

    @Override
    public void execute(Runnable task) {
      try {
        if (refused) {
          throw new RejectedExecutionException("the connection was refused");
        }
        threads.execute(task);
      } catch (RejectedExecutionException e) {
        if (!refused && !threads.isShutdown()) {
          whenFull.run();
        }
        refused = true;
        throw e;
      }
    }
  }

  /** Drops waiting tasks. */
  @Override
  public void close() {
    threads.shutdownNow();
  }
}
