package io.eventbus.client.internal.inbound;

import io.eventbus.client.EventBusException;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starter of consumers on the executor. A refusal by the executor is retried after a pause; until
 * then a subscription under BLOCK grants the bus no more, and others drop by their policy. An
 * executor that refuses for {@link #REFUSAL_TIMEOUT}, or is shut down, ends the subscription. Any
 * thread may use it.
 */
final class ConsumerStarts {
  static final Duration REFUSAL_TIMEOUT = Duration.ofSeconds(30);

  private static final Logger LOG = LoggerFactory.getLogger(ConsumerStarts.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(1);

  private final Executor executor;
  private final Scheduler conductor;
  private final MicroClock clock;
  private final ReadGate gate;
  private final GivenUp givenUp;
  private final Set<Retry> retries = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /** Listener for subscriptions whose consumer will not run any more. */
  @FunctionalInterface
  interface GivenUp {
    /**
     * Ends the subscription and reports it. Any thread may call it, also under the dispatcher's
     * lock.
     */
    void givenUp(SubscriptionState subscription, EventBusException why);
  }

  ConsumerStarts(
      Executor executor, Scheduler conductor, MicroClock clock, ReadGate gate, GivenUp givenUp) {
    this.executor = executor;
    this.conductor = conductor;
    this.clock = clock;
    this.gate = gate;
    this.givenUp = givenUp;
  }

  /**
   * Runs a consumer once, soon.
   *
   * @param whenGivenUp is called instead if it will not run
   */
  void start(
      SubscriptionState subscription, Runnable consumer, Consumer<EventBusException> whenGivenUp) {
    RuntimeException refusal = tryOnce(consumer);
    if (refusal == null) {
      return;
    }
    Retry retry = new Retry(subscription, consumer, whenGivenUp, refusal);
    if (closed || isShutDown()) {
      retry.giveUp();
      return;
    }
    LOG.debug("the executor refuses to run the handler of {}", subscription.filter(), refusal);
    if (subscription.stallsConnection()) {
      gate.onFull();
    }
    retries.add(retry);
    retry.later();
    if (closed) {
      retry.end();
    }
  }

  private @Nullable RuntimeException tryOnce(Runnable consumer) {
    try {
      executor.execute(consumer);
      return null;
    } catch (RuntimeException e) {
      return e;
    }
  }

  private boolean isShutDown() {
    return executor instanceof ExecutorService service && service.isShutdown();
  }

  /** Ends all retries, because the client has ended. */
  void close() {
    closed = true;
    new ArrayList<>(retries).forEach(Retry::end);
  }

  private final class Retry {
    private final SubscriptionState subscription;
    private final Runnable consumer;
    private final Consumer<EventBusException> whenGivenUp;
    private final long since = clock.nanoTime();
    private RuntimeException refusal;
    private Duration pause = FIRST_PAUSE;

    Retry(
        SubscriptionState subscription,
        Runnable consumer,
        Consumer<EventBusException> whenGivenUp,
        RuntimeException refusal) {
      this.subscription = subscription;
      this.consumer = consumer;
      this.whenGivenUp = whenGivenUp;
      this.refusal = refusal;
    }

    void later() {
      conductor.schedule(this::again, pause.toNanos());
      Duration doubled = pause.multipliedBy(2);
      pause = doubled.compareTo(MAX_PAUSE) < 0 ? doubled : MAX_PAUSE;
    }

    private void again() {
      if (!retries.contains(this)) {
        return;
      }
      RuntimeException refused = tryOnce(consumer);
      if (refused == null) {
        retries.remove(this);
        goOn();
        return;
      }
      refusal = refused;
      if (isShutDown() || clock.nanoTime() - since >= REFUSAL_TIMEOUT.toNanos()) {
        end();
      } else {
        later();
      }
    }

    private void goOn() {
      if (subscription.stallsConnection()) {
        gate.onRoom();
      }
    }

    void end() {
      if (retries.remove(this)) {
        goOn();
        giveUp();
      }
    }

    void giveUp() {
      EventBusException why =
          new EventBusException.Closed(
              "the subscription to "
                  + subscription.filter()
                  + " is ended: the executor "
                  + (isShutDown()
                      ? "is shut down"
                      : "has refused to run its handler for " + REFUSAL_TIMEOUT.toSeconds() + " s")
                  + "; "
                  + subscription.queue.bytes()
                  + " bytes of events that waited for it are dropped (expected: an executor that"
                  + " queues what it cannot run at once)",
              refusal);
      givenUp.givenUp(subscription, why);
      whenGivenUp.accept(why);
    }
  }
}
