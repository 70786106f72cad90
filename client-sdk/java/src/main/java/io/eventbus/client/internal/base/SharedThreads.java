package io.eventbus.client.internal.base;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads of all clients of this JVM beside those of the transport: one conductor, a few that send,
 * and those that run handlers. They end with the last client.
 */
public final class SharedThreads {
  /** Shared instance, held by every client. */
  public static final RefCounted<SharedThreads> ALL =
      new RefCounted<>(SharedThreads::new, SharedThreads::shutdown);

  // More would not send faster than the sockets accept it.
  private static final int MAX_SENDERS = 4;
  private static final long KEEP_ALIVE_SECONDS = 5;

  private final ScheduledThreadPoolExecutor conductor;
  private final ThreadPoolExecutor senders;
  private final HandlerPool handlers;

  private SharedThreads() {
    int processors = Runtime.getRuntime().availableProcessors();
    conductor = new ScheduledThreadPoolExecutor(1, named("eventbus-conductor"));
    conductor.setRemoveOnCancelPolicy(true);
    conductor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    int max = Math.min(MAX_SENDERS, processors);
    senders =
        new ThreadPoolExecutor(
            max,
            max,
            KEEP_ALIVE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            named("eventbus-sender"));
    senders.allowCoreThreadTimeOut(true);
    handlers = new HandlerPool(Math.max(2, processors), conductor);
  }

  private static ThreadFactory named(String name) {
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Returns a new share of one client in the conductor. */
  public Scheduler conductor() {
    return new ClientScheduler(conductor);
  }

  /**
   * Returns the executor that sends; tasks must not block. Each client has one task here at most.
   */
  public Executor senders() {
    return senders;
  }

  /** Returns the executor of handlers; tasks may block. */
  public Executor handlers() {
    return handlers;
  }

  private void shutdown() {
    conductor.shutdown();
    senders.shutdown();
    handlers.letThreadsEnd();
  }
}
