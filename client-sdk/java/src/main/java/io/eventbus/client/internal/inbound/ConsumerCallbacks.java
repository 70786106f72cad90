package io.eventbus.client.internal.inbound;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Gap;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.internal.base.Counters;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Notifier;
import io.eventbus.client.internal.base.Scheduler;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Callbacks of the consumers of a client. Any thread may use them. */
public final class ConsumerCallbacks implements PushConsumer.Environment {
  private static final Logger LOG = LoggerFactory.getLogger(ConsumerCallbacks.class);

  private final Notifier notifier;
  private final Counters counters;
  private final ConsumerStarts starts;

  public ConsumerCallbacks(
      Notifier notifier,
      Counters counters,
      Executor executor,
      Scheduler conductor,
      MicroClock clock,
      ReadGate gate) {
    this.notifier = notifier;
    this.counters = counters;
    this.starts = new ConsumerStarts(executor, conductor, clock, gate, this::abandon);
  }

  /** Ends all starts that are retried, because the client has ended. */
  public void close() {
    starts.close();
  }

  /** Ends a subscription whose consumer the executor will not run any more. */
  private void abandon(SubscriptionState subscription, EventBusException why) {
    LOG.debug("a subscription is given up", why);
    counters.abandonedSubscriptions.increment();
    subscription.unsubscribe();
    subscription.queue.discard();
    notifier.tell(listener -> listener.problem(why));
    notifier.complete(subscription::completeFinished);
  }

  @Override
  public void start(
      SubscriptionState subscription, Runnable consumer, Consumer<EventBusException> givenUp) {
    starts.start(subscription, consumer, givenUp);
  }

  @Override
  public void handlerFailed(
      SubscriptionState subscription, ReceivedEvent event, Throwable failure) {
    subscription.failed.increment();
    counters.handlerFailures.increment();
    LOG.debug("the handler of {} failed", subscription.filter(), failure);
    notifier.tell(listener -> listener.handlerFailed(subscription, event, failure));
  }

  @Override
  public void noticeFailed(SubscriptionState subscription, Record notice, Throwable failure) {
    subscription.failed.increment();
    counters.handlerFailures.increment();
    LOG.warn("the handler of {} failed with {}", subscription.filter(), notice, failure);
  }

  @Override
  public void conflated(SubscriptionState subscription, Gap gap) {
    subscription.missing.add(gap.count());
    counters.missing.add(gap.count());
    notifier.tell(listener -> listener.gap(gap));
  }

  @Override
  public void finished(SubscriptionState subscription) {
    notifier.complete(subscription::completeFinished);
  }

  @Override
  public void fail(Runnable telling) {
    notifier.fail(telling);
  }
}
