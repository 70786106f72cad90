package io.eventbus.client.internal.durable;

import io.eventbus.client.WorkHandler;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Caller of a worker's handler, on the application's executor: as many runs at a time as the worker
 * has concurrency, each with one event after the other. Any thread may use it.
 */
final class WorkerRunner implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerRunner.class);
  private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long REFUSED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final WorkerState worker;
  private final WorkHandler handler;
  private final int concurrency;
  private final DurableConsumers.Environment environment;
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

  // Guarded by this: runs that are under way or asked for.
  private int runs;

  WorkerRunner(
      WorkerState worker,
      WorkHandler handler,
      int concurrency,
      DurableConsumers.Environment environment) {
    this.worker = worker;
    this.handler = handler;
    this.concurrency = concurrency;
    this.environment = environment;
  }

  /** Starts a run if an event waits and not all runs are under way. */
  void wake() {
    synchronized (this) {
      if (runs == concurrency || !worker.hasWork()) {
        return;
      }
      runs++;
    }
    start();
  }

  private void start() {
    try {
      environment.executor().execute(this);
    } catch (RejectedExecutionException e) {
      LOG.debug("the executor does not run the handler of {} now", worker.filter(), e);
      environment.conductor().schedule(this::start, REFUSED_NANOS);
    }
  }

  @Override
  public void run() {
    threads.add(Thread.currentThread());
    try {
      work();
    } finally {
      threads.remove(Thread.currentThread());
    }
    worker.flush();
    boolean more;
    synchronized (this) {
      // Events that come from now on wake this again.
      more = worker.hasWork();
      runs -= more ? 0 : 1;
    }
    if (more) {
      start();
    } else {
      worker.finishIfIdle();
    }
  }

  private void work() {
    long end = System.nanoTime() + TURN_NANOS;
    do {
      OpenDelivery next = worker.take();
      if (next == null) {
        return;
      }
      wake();
      handle(next);
    } while (System.nanoTime() - end < 0);
  }

  private void handle(OpenDelivery delivery) {
    try {
      handler.onEvent(delivery.event, delivery);
      worker.returned(delivery);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      worker.failed(delivery, e);
    } catch (Throwable e) {
      // Also an Error: an unsettled event would block its place until the ack timeout.
      worker.failed(delivery, e);
    }
  }

  boolean isRunByThisThread() {
    return threads.contains(Thread.currentThread());
  }

  synchronized boolean isIdle() {
    return runs == 0;
  }
}
