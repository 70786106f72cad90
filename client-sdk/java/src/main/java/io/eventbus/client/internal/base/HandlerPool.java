package io.eventbus.client.internal.base;

import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pool of threads that run the handlers of all clients: as many as there are processors, and one
 * more for each that a handler blocks. Any thread may use it.
 *
 * <p>While tasks wait, the conductor looks every {@value #LOOK_MILLIS} ms at what the threads do. A
 * thread that waits for something at two looks in a row is made up for with a new one, so that a
 * handler that blocks costs a thread and not somebody else's events; a thread that computes is not,
 * because more threads would not make it faster. A thread in a system call looks like one that
 * computes: when no task at all was begun for {@value #STALLED_LOOKS} looks, threads are added too.
 * Idle threads end.
 *
 * <p>There are at most {@value #MAX_THREADS} threads. When handlers block all of them, other
 * handlers wait; that is logged once until it has ended. So is that the system gives no more
 * threads.
 *
 * <p>The queue is bounded by the number of subscriptions, as each is queued once at most, and by
 * the concurrency of services.
 */
final class HandlerPool implements Executor {
  private static final Logger LOG = LoggerFactory.getLogger(HandlerPool.class);
  private static final int LOOK_MILLIS = 5;
  private static final int BLOCKED_LOOKS = 2;
  private static final int STALLED_LOOKS = 10;
  private static final long KEEP_ALIVE_SECONDS = 5;

  /**
   * Maximum number of threads: more handlers that block would be a fault, and each thread has a
   * stack.
   */
  static final int MAX_THREADS = 1_000;

  private final int wanted;
  private final int max;
  private final ScheduledExecutorService conductor;
  private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();
  private final AtomicInteger number = new AtomicInteger();
  private final AtomicLong begun = new AtomicLong();
  private final AtomicBoolean watching = new AtomicBoolean();
  private final ThreadPoolExecutor pool;
  // Confined to the conductor.
  private long begunBefore;
  private int stalled;
  private int blockedLooks;
  private boolean reported;

  /**
   * Creates a pool without threads.
   *
   * @param conductor looks after the pool
   */
  HandlerPool(int wanted, ScheduledExecutorService conductor) {
    this(wanted, MAX_THREADS, conductor, Thread::new);
  }

  HandlerPool(
      int wanted, int max, ScheduledExecutorService conductor, Function<Runnable, Thread> maker) {
    this.wanted = wanted;
    this.max = Math.max(wanted, max);
    this.conductor = conductor;
    this.pool =
        new ThreadPoolExecutor(
            wanted,
            this.max,
            KEEP_ALIVE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            work -> newThread(maker.apply(work))) {
          @Override
          protected void beforeExecute(Thread thread, Runnable task) {
            begun.incrementAndGet();
          }
        };
    pool.allowCoreThreadTimeOut(true);
  }

  private Thread newThread(Thread thread) {
    thread.setName("eventbus-handler-" + number.incrementAndGet());
    thread.setDaemon(true);
    threads.add(thread);
    return thread;
  }

  @Override
  public void execute(Runnable task) {
    pool.execute(task);
    watch();
  }

  private void watch() {
    if (!pool.getQueue().isEmpty() && watching.compareAndSet(false, true)) {
      lookLater();
    }
  }

  private void lookLater() {
    try {
      ScheduledFuture<?> unused =
          conductor.schedule(this::look, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // The last client is closed; every task gets a thread now.
      LOG.trace("the pool is not looked after any more", e);
    }
  }

  private void look() {
    if (pool.getQueue().isEmpty()) {
      stalled = 0;
      blockedLooks = 0;
      forgetEnded();
      if (pool.getCorePoolSize() > wanted && pool.getActiveCount() <= wanted) {
        pool.setCorePoolSize(wanted);
      }
      reported = false;
      watching.set(false);
      watch();
      return;
    }
    int more = missing();
    if (more > 0) {
      add(more);
    }
    lookLater();
  }

  private void add(int more) {
    int now = pool.getPoolSize();
    if (now >= max) {
      tell("handlers block all {} threads; others wait", max);
      return;
    }
    try {
      pool.setCorePoolSize(Math.min(max, now + more));
    } catch (OutOfMemoryError e) {
      // Not more than there are: otherwise each next task would try it in vain.
      pool.setCorePoolSize(Math.max(1, Math.min(wanted, pool.getPoolSize())));
      tell("handlers block all {} threads, and the system gives no more; others wait", now);
    }
  }

  private void tell(String message, int threads) {
    if (!reported) {
      reported = true;
      LOG.warn(message, threads);
    }
  }

  /** Returns the number of threads to add. */
  private int missing() {
    int waiting = forgetEnded();
    int busy = pool.getActiveCount();
    int idle = pool.getPoolSize() - busy;
    int blocked = waiting - idle;
    long begunNow = begun.get();
    stalled = begunNow == begunBefore ? stalled + 1 : 0;
    begunBefore = begunNow;
    // An idle thread is being woken while something waits.
    blockedLooks = idle <= 0 && busy - blocked < wanted ? blockedLooks + 1 : 0;
    if (blockedLooks >= BLOCKED_LOOKS) {
      blockedLooks = 0;
      // Half as many again: hundreds of blocking handlers have their threads after tens of looks.
      return Math.max(wanted - (busy - blocked), blocked / 2);
    }
    if (stalled >= STALLED_LOOKS) {
      stalled = 0;
      return wanted;
    }
    return 0;
  }

  /** Forgets threads that have ended; returns the number of those that wait for something. */
  private int forgetEnded() {
    int waiting = 0;
    for (Iterator<Thread> all = threads.iterator(); all.hasNext(); ) {
      Thread.State state = all.next().getState();
      if (state == Thread.State.TERMINATED) {
        all.remove();
      } else if (state != Thread.State.RUNNABLE && state != Thread.State.NEW) {
        waiting++;
      }
    }
    return waiting;
  }

  /**
   * Ends the pool with the last client: what is still to be called back runs in a thread of its
   * own, because nobody looks after the pool any more; threads end as soon as they are idle.
   */
  void letThreadsEnd() {
    pool.setCorePoolSize(max);
    pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
  }
}
