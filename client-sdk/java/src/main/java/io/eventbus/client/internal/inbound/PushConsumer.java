package io.eventbus.client.internal.inbound;

import io.eventbus.client.EventBusException;
import io.eventbus.client.EventHandler;
import io.eventbus.client.Gap;
import io.eventbus.client.ReceivedEvent;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Consumer that calls a handler with the events of a subscription, on an executor, one at a time
 * and in order.
 *
 * <p>{@link #wake} counts reasons to look; the caller that counts the first starts the work, and
 * the work goes on until nothing was counted meanwhile. No event is missed and no lock is held
 * while the handler runs.
 */
public final class PushConsumer implements Runnable {
  /** Maximum number of events that are handled in a row. */
  private static final int MAX_EVENTS_PER_RUN = 10_000;

  /** Maximum time of one run, which is checked after every few events. */
  private static final long MAX_NANOS_PER_RUN = 10_000_000;

  private static final int LOOK_AT_TIME = 16;

  /** Environment of a handler. */
  public interface Environment {
    /**
     * Runs a consumer once, soon, on the application's executor.
     *
     * @param givenUp is called instead if the executor refuses for too long; the subscription is
     *     ended then
     */
    void start(
        SubscriptionState subscription, Runnable consumer, Consumer<EventBusException> givenUp);

    /** Called when a handler has thrown an exception. */
    void handlerFailed(SubscriptionState subscription, ReceivedEvent event, Throwable failure);

    /** Called when a handler has thrown an exception for a gap or an interruption. */
    void noticeFailed(SubscriptionState subscription, Record notice, Throwable failure);

    /** Called when events were skipped because later ones of the same topic and key had arrived. */
    void conflated(SubscriptionState subscription, Gap gap);

    /** Called when the last event has been handled. */
    void finished(SubscriptionState subscription);

    /**
     * Runs a task that reports a failure to the application, also when its executor runs nothing.
     */
    void fail(Runnable telling);
  }

  private final SubscriptionState subscription;
  private final EventHandler handler;
  private final Environment environment;
  private final AtomicInteger pending = new AtomicInteger();
  private boolean finished;

  public PushConsumer(
      SubscriptionState subscription, EventHandler handler, Environment environment) {
    this.subscription = subscription;
    this.handler = handler;
    this.environment = environment;
    subscription.reader.onGap(gap -> notify(gap, () -> handler.onGap(gap)));
    subscription.reader.onInterruption(
        interruption -> notify(interruption, () -> handler.onInterruption(interruption)));
  }

  public void wake() {
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
      // Before another thread may start, which sets itself as the handling one.
      subscription.handledBy(null);
    }
  }

  /** Budget of one run, after which the executor gets a chance to run something else. */
  static final class Turn {
    private final long begun = System.nanoTime();
    private int events;

    /** Returns whether the budget is used up; called before each event. */
    boolean isOver() {
      int handled = events++;
      return handled == MAX_EVENTS_PER_RUN
          || (handled % LOOK_AT_TIME == LOOK_AT_TIME - 1
              && System.nanoTime() - begun > MAX_NANOS_PER_RUN);
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
      // Also an Error, a class that is missing for instance: a subscription that ended silently
      // would be worse.
      environment.handlerFailed(subscription, event, e);
    }
  }
}
