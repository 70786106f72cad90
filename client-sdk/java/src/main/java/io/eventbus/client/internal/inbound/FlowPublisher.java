package io.eventbus.client.internal.inbound;

import io.eventbus.client.EventBusException;
import io.eventbus.client.GapSubscriber;
import io.eventbus.client.ReceivedEvent;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publisher as {@link Flow} (and the Reactive Streams specification 1.0.4) has it: every subscriber
 * has a subscription of its own, and no more is read from the queue than it demands.
 */
public final class FlowPublisher implements Flow.Publisher<ReceivedEvent> {
  private static final Logger LOG = LoggerFactory.getLogger(FlowPublisher.class);

  private final Function<Function<SubscriptionState, Runnable>, SubscriptionState> subscriber;
  private final PushConsumer.Environment environment;

  public FlowPublisher(
      Function<Function<SubscriptionState, Runnable>, SubscriptionState> subscriber,
      PushConsumer.Environment environment) {
    this.subscriber = subscriber;
    this.environment = environment;
  }

  @Override
  public void subscribe(Flow.Subscriber<? super ReceivedEvent> target) {
    java.util.Objects.requireNonNull(target, "subscriber");
    Demand[] made = new Demand[1];
    try {
      SubscriptionState subscription =
          subscriber.apply(
              state -> {
                Demand demand = new Demand(state, target);
                made[0] = demand;
                return demand::wake;
              });
      Demand demand = made[0];
      if (demand != null) {
        demand.begin(subscription);
      }
    } catch (EventBusException e) {
      target.onSubscribe(NOTHING);
      target.onError(e);
    }
  }

  private static final Flow.Subscription NOTHING =
      new Flow.Subscription() {
        @Override
        public void request(long n) {}

        @Override
        public void cancel() {}
      };

  /** Demand of one subscriber; its callbacks run one at a time, as in {@link PushConsumer}. */
  private final class Demand implements Flow.Subscription, Runnable {
    private final SubscriptionState subscription;
    private final Flow.Subscriber<? super ReceivedEvent> target;
    private final AtomicInteger pending = new AtomicInteger();
    private final AtomicLong demand = new AtomicLong();
    private volatile boolean begun;
    private volatile boolean cancelled;
    private volatile @Nullable Throwable failure;
    private boolean terminated;
    private boolean finished;

    Demand(SubscriptionState subscription, Flow.Subscriber<? super ReceivedEvent> target) {
      this.subscription = subscription;
      this.target = target;
      if (target instanceof GapSubscriber knowing) {
        subscription.reader.onGap(gap -> notify(gap, () -> knowing.onGap(gap)));
        subscription.reader.onInterruption(
            interruption -> notify(interruption, () -> knowing.onInterruption(interruption)));
      }
    }

    private void notify(Record notice, Runnable notification) {
      try {
        notification.run();
      } catch (Throwable e) {
        environment.noticeFailed(subscription, notice, e);
        cancel();
      }
    }

    void begin(SubscriptionState state) {
      try {
        target.onSubscribe(this);
      } catch (Throwable e) {
        // Rule 2.13, as with onNext; without it the bus would go on delivering events that nobody
        // consumes.
        LOG.warn("the subscriber of {} failed in onSubscribe: cancelled", state.filter(), e);
        cancel();
      }
      begun = true;
      state
          .ready()
          .whenComplete(
              (ok, error) -> {
                if (error != null) {
                  failure = error;
                  state.discard();
                }
              });
      wake();
    }

    @Override
    public void request(long n) {
      if (n <= 0) {
        failure = new IllegalArgumentException("request: " + n + " (expected: >= 1, rule 3.9)");
        subscription.unsubscribe();
        subscription.discard();
      } else {
        demand.accumulateAndGet(n, (a, b) -> a + b < 0 ? Long.MAX_VALUE : a + b);
      }
      wake();
    }

    @Override
    public void cancel() {
      cancelled = true;
      subscription.unsubscribe();
      subscription.discard();
    }

    void wake() {
      if (pending.getAndIncrement() == 0) {
        start();
      }
    }

    private void start() {
      environment.start(subscription, this, this::givenUp);
    }

    /** Ends the subscriber, in place of a run that will not happen. */
    private void givenUp(EventBusException why) {
      failure = why;
      // Not on the executor, which refuses.
      environment.fail(this::terminate);
    }

    @Override
    public void run() {
      int seen = pending.get();
      do {
        if (begun && deliver()) {
          // Still counted as pending, so that no other run starts.
          start();
          return;
        }
        seen = pending.addAndGet(-seen);
      } while (seen != 0);
    }

    /**
     * Delivers what is there and demanded; returns true if the executor is to run something else
     * first.
     */
    private boolean deliver() {
      if (subscription.queue.isDiscarding()) {
        subscription.reader.discard();
      }
      PushConsumer.Turn turn = new PushConsumer.Turn();
      while (!cancelled && !terminated && failure == null && demand.get() > 0) {
        if (turn.isOver()) {
          return true;
        }
        ReceivedEvent event = subscription.reader.next();
        if (event == null) {
          break;
        }
        if (demand.get() != Long.MAX_VALUE) {
          demand.decrementAndGet();
        }
        try {
          target.onNext(event);
        } catch (Throwable e) {
          // Rule 2.13: a subscriber that throws is cancelled.
          environment.handlerFailed(subscription, event, e);
          cancel();
        }
      }
      if (!finished && subscription.queue.isFinished() && nothingLeft()) {
        finished = true;
        environment.finished(subscription);
        terminate();
      }
      return false;
    }

    private boolean nothingLeft() {
      // With demand left the reader was read to its end; without demand it may still hold events.
      return subscription.queue.isDiscarding() || demand.get() > 0 || subscription.reader.isEmpty();
    }

    private void terminate() {
      if (!terminated && !cancelled) {
        terminated = true;
        Throwable error = failure;
        if (error != null) {
          target.onError(error);
        } else {
          target.onComplete();
        }
      }
    }
  }
}
