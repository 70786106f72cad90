package io.eventbus.client.internal;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Gap;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.internal.call.CallTable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Parts of one client, wired once. */
record ClientParts(
    ClientOptions options,
    MicroClock clock,
    Scheduler conductor,
    Outbox outbox,
    EventEncoder encoder,
    Subscriptions subscriptions,
    Acks acks,
    Barriers barriers,
    Counters counters,
    Notifier notifier,
    Maintenance maintenance,
    CallTraffic calls,
    PushConsumer.Environment environment,
    Connector connector) {

  private static final Logger LOG = LoggerFactory.getLogger(ClientParts.class);

  /** Dependencies from outside, which tests replace. */
  record Outside(
      Transport transport,
      Scheduler conductor,
      Executor senders,
      Executor handlers,
      MicroClock clock,
      DoubleSupplier random,
      Runnable onClosed) {}

  static ClientParts wire(ClientOptions options, Outside outside) {
    MicroClock clock = outside.clock();
    Executor given = options.executor();
    Executor executor = given != null ? given : outside.handlers();
    ConnectionListener listener = options.listener();
    Notifier notifier =
        new Notifier(
            listener != null ? listener : new LoggingListener(options.name(), clock::nanoTime),
            executor);
    Counters counters = new Counters();
    Acks acks = new Acks();
    Outbox outbox = new Outbox(options.outbound(), clock);
    EventEncoder encoder = new EventEncoder(clock, options.outbound().bufferBytes());
    Subscriptions subscriptions = new Subscriptions(outbox, notifier, clock);
    ReadGate gate = new ReadGate();
    ConsumerStarts starts =
        new ConsumerStarts(
            executor,
            outside.conductor(),
            clock,
            gate,
            (subscription, why) -> abandon(subscription, why, counters, notifier));
    Dispatcher dispatcher =
        new Dispatcher(
            subscriptions, acks, counters, notifier, gate, clock, options.trackedProducers());
    Barriers barriers = new Barriers(outbox, notifier, outside.conductor());
    CallTraffic calls = calls(options, outside, outbox, encoder, notifier, executor);
    BusLink.Parts linkParts =
        new BusLink.Parts(outbox, subscriptions, dispatcher, barriers, counters, notifier, calls);
    Sender sender =
        new Sender(outbox, clock, options.connection().sendTimeout().toNanos(), outside.senders());
    outbox.onWork(sender::wake, sender::wakeForEvent);
    Maintenance maintenance =
        new Maintenance(options, outside.conductor(), clock, linkParts, acks, sender);
    Connector connector =
        new Connector(
            options,
            new Connector.Environment(
                outside.transport(),
                outside.conductor(),
                outside.random(),
                clock,
                linkParts,
                new ConnectionTraffic(linkParts, sender, encoder),
                executor),
            () -> {
              OpenClients.ALL.remove(outbox);
              starts.close();
              outside.transport().close();
              outside.conductor().shutdown();
              outside.onClosed().run();
            });
    return new ClientParts(
        options,
        clock,
        outside.conductor(),
        outbox,
        encoder,
        subscriptions,
        acks,
        barriers,
        counters,
        notifier,
        maintenance,
        calls,
        new Callbacks(notifier, counters, starts),
        connector);
  }

  private static CallTraffic calls(
      ClientOptions options,
      Outside outside,
      Outbox outbox,
      EventEncoder encoder,
      Notifier notifier,
      Executor executor) {
    CallOutlet outlet =
        new CallOutlet(
            outbox, encoder, notifier, outside, executor, options.outbound().batchBytes());
    CallTable calls =
        new CallTable(outlet, options.calls().interceptors(), options.calls().bufferBytes());
    outbox.onRoomForAnswers(calls::hasRoom);
    return new CallTraffic(calls, outlet, encoder);
  }

  /** Ends a subscription whose consumer the executor will not run any more. */
  private static void abandon(
      SubscriptionState subscription, EventBusException why, Counters counters, Notifier notifier) {
    LOG.debug("a subscription is given up", why);
    counters.abandonedSubscriptions.increment();
    subscription.unsubscribe();
    subscription.queue.discard();
    notifier.tell(listener -> listener.problem(why));
    notifier.complete(subscription::completeFinished);
  }

  /** Starts the first connection; the client is there when it is. */
  CompletableFuture<EventBusClient> start() {
    // First: the end of the client, which may come at once, removes it.
    OpenClients.ALL.add(new OpenClients.Client(options.name(), outbox, barriers, options, clock));
    maintenance.start();
    return connector.start().thenApply(connected -> new BusClient(this));
  }

  /** Callbacks of consumers. */
  private record Callbacks(Notifier notifier, Counters counters, ConsumerStarts starts)
      implements PushConsumer.Environment {
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
}
