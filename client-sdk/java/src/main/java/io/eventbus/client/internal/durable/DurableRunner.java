package io.eventbus.client.internal.durable;

import io.eventbus.client.DurableHandler;
import io.eventbus.client.ReceivedEvent;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Caller of a consumer's handler, on the application's executor: one event at a time, in order, and
 * the same event again after a failure. {@link #wake} may be called by any thread; all else belongs
 * to the run, of which there is one at a time.
 */
final class DurableRunner implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(DurableRunner.class);
  private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long REFUSED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long[] PAUSE_SECONDS = {1, 5, 30, 120};

  private final DurableState state;
  private final DurableHandler handler;
  private final DurableConsumers.Environment environment;
  private final FedEvents events = new FedEvents();
  private @Nullable FedItem item;
  // The event that the handler has to get again.
  private @Nullable ReceivedEvent again;
  private int failures;
  private volatile @Nullable Thread thread;

  // Guarded by this: whether a run is under way or asked for, and whether it has to wait.
  private boolean running;
  private boolean pausing;

  DurableRunner(
      DurableState state, DurableHandler handler, DurableConsumers.Environment environment) {
    this.state = state;
    this.handler = handler;
    this.environment = environment;
  }

  /** Starts a run unless there is one, or a failed event waits for its time. */
  void wake() {
    synchronized (this) {
      // A failed item does not come again if its journal was deleted.
      pausing &= !state.isReplaced();
      if (running || (pausing && !state.isStopping())) {
        return;
      }
      running = true;
    }
    start();
  }

  private void start() {
    try {
      environment.executor().execute(this);
    } catch (RejectedExecutionException e) {
      LOG.debug("the executor does not run the handler of {} now", state.filter(), e);
      environment.conductor().schedule(this::start, REFUSED_NANOS);
    }
  }

  @Override
  public void run() {
    thread = Thread.currentThread();
    try {
      work();
    } finally {
      thread = null;
    }
    boolean more;
    synchronized (this) {
      // Items that are added from now on wake this again.
      more = (!pausing || state.isStopping()) && state.hasWork(item != null);
      running = more;
    }
    if (more) {
      start();
    }
  }

  boolean isRunByThisThread() {
    return thread == Thread.currentThread();
  }

  private void work() {
    long end = System.nanoTime() + TURN_NANOS;
    while (!state.isStopping()) {
      if (item == null) {
        FedItem next = state.take();
        if (next == null) {
          return;
        }
        item = next;
        if (next instanceof FedItem.Events fed) {
          events.begin(fed);
        }
      }
      if (!step(item) || System.nanoTime() - end > 0) {
        return;
      }
    }
    item = null;
    again = null;
    state.stopped();
  }

  /** Hands an event over; returns false if the handler has failed. */
  private boolean step(FedItem from) {
    if (from instanceof FedItem.Missing missing) {
      return (!state.isToBeTold(missing)
              || call(missing.truncated().from(), () -> handler.onTruncated(missing.truncated())))
          && done(from);
    }
    ReceivedEvent event = again != null ? again : events.next();
    if (event == null) {
      return done(from);
    }
    if (state.isHandled(event.position())) {
      again = null;
      return true;
    }
    again = event;
    if (!call(event.position(), () -> handler.onEvent(event))) {
      return false;
    }
    again = null;
    state.received.increment();
    environment.counters().received.increment();
    state.handled(event.position());
    return true;
  }

  private boolean done(FedItem from) {
    item = null;
    state.done(from);
    return true;
  }

  /** Call of the handler. */
  private interface Call {
    void run() throws Exception;
  }

  private boolean call(long position, Call call) {
    try {
      call.run();
      failures = 0;
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      fail(position, e);
    } catch (Throwable e) {
      // Also an Error: a consumer that ended silently would be worse.
      fail(position, e);
    }
    return false;
  }

  private void fail(long position, Throwable failure) {
    long pause = PAUSE_SECONDS[Math.min(failures++, PAUSE_SECONDS.length - 1)];
    synchronized (this) {
      pausing = true;
    }
    environment.conductor().schedule(this::resume, TimeUnit.SECONDS.toNanos(pause));
    state.failed.increment();
    environment.counters().handlerFailures.increment();
    environment.notifier().tell(listener -> listener.handlerFailed(state, position, failure));
  }

  private void resume() {
    synchronized (this) {
      pausing = false;
    }
    wake();
  }
}
