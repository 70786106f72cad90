package io.eventbus.client.internal;

import io.eventbus.client.EventHandler;
import io.eventbus.client.ReceivedEvent;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls a handler with the events of a subscription, on an executor, one at a time and in order.
 *
 * <p>{@link #wake} counts what there is to look at; who counts the first starts the work, and the
 * work goes on until nothing was counted meanwhile. No event is missed and no lock is held while
 * the handler runs.
 */
final class PushConsumer implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(PushConsumer.class);

  /** After so many events the executor gets a chance to run something else. */
  private static final int EVENTS_IN_A_ROW = 10_000;

  /** The same after so much time, which is looked at after every few events. */
  private static final long NANOS_IN_A_ROW = 10_000_000;

  private static final int LOOK_AT_TIME = 16;

  /** What a handler needs around it. */
  interface Environment {
    /** A handler threw an exception. */
    void handlerFailed(SubscriptionState subscription, ReceivedEvent event, Throwable failure);

    /** The last event has been handled. */
    void finished(SubscriptionState subscription);
  }

  private final SubscriptionState subscription;
  private final EventHandler handler;
  private final Executor executor;
  private final Environment environment;
  private final AtomicInteger pending = new AtomicInteger();
  private boolean finished;

  PushConsumer(
      SubscriptionState subscription,
      EventHandler handler,
      Executor executor,
      Environment environment) {
    this.subscription = subscription;
    this.handler = handler;
    this.executor = executor;
    this.environment = environment;
  }

  void wake() {
    if (pending.getAndIncrement() == 0) {
      start();
    }
  }

  private void start() {
    try {
      executor.execute(this);
    } catch (RejectedExecutionException e) {
      // The application has shut its executor down: nothing can be handled any more.
      LOG.warn("the executor refuses to run the handler of {}", subscription.filter(), e);
      subscription.queue.discard();
      environment.finished(subscription);
    }
  }

  @Override
  public void run() {
    subscription.handledBy(Thread.currentThread());
    try {
      int seen = pending.get();
      while (true) {
        boolean more = handleSome();
        if (more) {
          // Still counted as pending, so that nobody else starts.
          start();
          return;
        }
        seen = pending.addAndGet(-seen);
        if (seen == 0) {
          return;
        }
      }
    } finally {
      subscription.handledBy(null);
    }
  }

  private boolean handleSome() {
    long begun = System.nanoTime();
    for (int i = 0; i < EVENTS_IN_A_ROW; i++) {
      if (i % LOOK_AT_TIME == LOOK_AT_TIME - 1 && System.nanoTime() - begun > NANOS_IN_A_ROW) {
        return true;
      }
      if (subscription.queue.isDiscarding()) {
        subscription.reader.discard();
      }
      ReceivedEvent event = subscription.reader.next();
      if (event == null) {
        if (!finished && subscription.queue.isFinished()) {
          finished = true;
          environment.finished(subscription);
        }
        return false;
      }
      handle(event);
    }
    return true;
  }

  private void handle(ReceivedEvent event) {
    try {
      handler.onEvent(event);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      environment.handlerFailed(subscription, event, e);
    } catch (Throwable e) {
      // Also an Error, a class that is missing for instance: a subscription that ended without a
      // word
      // would be worse.
      environment.handlerFailed(subscription, event, e);
    }
  }
}
