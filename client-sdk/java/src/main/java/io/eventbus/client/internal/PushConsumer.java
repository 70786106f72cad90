package io.eventbus.client.internal;

import io.eventbus.client.EventBusException;
import io.eventbus.client.EventHandler;
import io.eventbus.client.Gap;
import io.eventbus.client.ReceivedEvent;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Calls a handler with the events of a subscription, on an executor, one at a time and in order.
 *
 * <p>{@link #wake} counts what there is to look at; who counts the first starts the work, and the
 * work goes on until nothing was counted meanwhile. No event is missed and no lock is held while
 * the handler runs.
 */
final class PushConsumer implements Runnable {
  /** So many events are handled in a row. */
  private static final int EVENTS_IN_A_ROW = 10_000;

  /** For so long at most, which is looked at after every few events. */
  private static final long NANOS_IN_A_ROW = 10_000_000;

  private static final int LOOK_AT_TIME = 16;

  /** What a handler needs around it. */
  interface Environment {
    /**
     * Has a consumer run once, soon, on the application's executor.
     *
     * @param givenUp is called instead if the executor refuses for too long; the subscription is
     *     ended then
     */
    void start(
        SubscriptionState subscription, Runnable consumer, Consumer<EventBusException> givenUp);

    /** A handler threw an exception. */
    void handlerFailed(SubscriptionState subscription, ReceivedEvent event, Throwable failure);

    /** A handler threw an exception when it was told of a gap or an interruption. */
    void noticeFailed(SubscriptionState subscription, Record notice, Throwable failure);

    /** Events were not handled because later ones of the same topic and key had arrived. */
    void conflated(SubscriptionState subscription, Gap gap);

    /** The last event has been handled. */
    void finished(SubscriptionState subscription);

    /** Runs what tells the application of a failure, also when its executor runs nothing. */
    void fail(Runnable telling);
  }

  private final SubscriptionState subscription;
  private final EventHandler handler;
  private final Environment environment;
  private final AtomicInteger pending = new AtomicInteger();
  private boolean finished;

  PushConsumer(SubscriptionState subscription, EventHandler handler, Environment environment) {
    this.subscription = subscription;
    this.handler = handler;
    this.environment = environment;
    subscription.reader.onGap(gap -> notify(gap, () -> handler.onGap(gap)));
    subscription.reader.onInterruption(
        interruption -> notify(interruption, () -> handler.onInterruption(interruption)));
  }

  void wake() {
    if (pending.getAndIncrement() == 0) {
      start();
    }
  }

  private void start() {
    environment.start(subscription, this, givenUp -> {});
  }

  @Override
  public void run() {
    int seen = pending.get();
    while (true) {
      boolean more = handleSomeHere();
      if (more) {
        // Still counted as pending, so that no other run starts.
        start();
        return;
      }
      seen = pending.addAndGet(-seen);
      if (seen == 0) {
        return;
      }
    }
  }

  private boolean handleSomeHere() {
    subscription.handledBy(Thread.currentThread());
    try {
      return handleSome();
    } finally {
      // Before anybody else may start: the next thread says that it is the one.
      subscription.handledBy(null);
    }
  }

  /** What may be handled before the executor gets a chance to run something else. */
  static final class Turn {
    private final long begun = System.nanoTime();
    private int events;

    /** Asked before each event. */
    boolean isOver() {
      int handled = events++;
      return handled == EVENTS_IN_A_ROW
          || (handled % LOOK_AT_TIME == LOOK_AT_TIME - 1
              && System.nanoTime() - begun > NANOS_IN_A_ROW);
    }
  }

  private boolean handleSome() {
    Turn turn = new Turn();
    while (!turn.isOver()) {
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

  /** Call of the handler that takes a notice. */
  private interface Notification {
    void run() throws Exception;
  }

  private void notify(Record notice, Notification notification) {
    try {
      notification.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      environment.noticeFailed(subscription, notice, e);
    } catch (Throwable e) {
      environment.noticeFailed(subscription, notice, e);
    }
  }

  private void handle(ReceivedEvent event) {
    try {
      handler.onEvent(event);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      environment.handlerFailed(subscription, event, e);
    } catch (Throwable e) {
      // Also an Error, a class that is missing for instance: a subscription that ended without a
      // word would be worse.
      environment.handlerFailed(subscription, event, e);
    }
  }
}
