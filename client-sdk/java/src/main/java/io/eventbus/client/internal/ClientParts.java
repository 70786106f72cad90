package io.eventbus.client.internal;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.ReceivedEvent;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The parts of one client, wired once. */
record ClientParts(
    ClientOptions options,
    MicroClock clock,
    Scheduler conductor,
    Executor executor,
    Outbox outbox,
    EventEncoder encoder,
    Subscriptions subscriptions,
    Acks acks,
    Barriers barriers,
    Counters counters,
    Maintenance maintenance,
    PushConsumer.Environment environment,
    Connector connector) {

  private static final Logger LOG = LoggerFactory.getLogger(ClientParts.class);

  /** What comes from outside, so that tests can give their own. */
  record Outside(
      Transport transport, Scheduler conductor, MicroClock clock, DoubleSupplier random) {}

  static String threadPrefix(ClientOptions options) {
    return "eventbus-" + options.name();
  }

  static ClientParts wire(ClientOptions options, Outside outside) {
    MicroClock clock = outside.clock();
    ThreadPoolExecutor own = options.executor() == null ? ownExecutor(threadPrefix(options)) : null;
    Executor executor = own != null ? own : given(options);
    Notifier notifier = new Notifier(options.listener(), executor);
    Counters counters = new Counters();
    Acks acks = new Acks();
    Outbox outbox = new Outbox(options.outbound(), clock);
    EventEncoder encoder = new EventEncoder(clock, options.outbound().bufferBytes());
    Subscriptions subscriptions = new Subscriptions(outbox, notifier);
    Dispatcher dispatcher =
        new Dispatcher(subscriptions, acks, counters, notifier, options.trackedProducers());
    Barriers barriers = new Barriers(outbox, notifier);
    Link.Parts linkParts =
        new Link.Parts(outbox, subscriptions, dispatcher, barriers, counters, notifier);
    Maintenance maintenance = new Maintenance(options, outside.conductor(), clock, linkParts, acks);
    Sender sender =
        new Sender(
            outbox,
            clock,
            options.connection().sendTimeout().toNanos(),
            threadPrefix(options) + "-sender");
    outbox.onWork(sender::wake);
    Connector connector =
        new Connector(
            options,
            new Connector.Environment(
                outside.transport(),
                outside.conductor(),
                outside.random(),
                clock,
                linkParts,
                sender,
                encoder),
            () -> {
              outside.transport().close();
              outside.conductor().shutdown();
              letThreadsEnd(own);
            });
    sender.start();
    return new ClientParts(
        options,
        clock,
        outside.conductor(),
        executor,
        outbox,
        encoder,
        subscriptions,
        acks,
        barriers,
        counters,
        maintenance,
        new Callbacks(notifier, counters),
        connector);
  }

  private static Executor given(ClientOptions options) {
    Executor given = options.executor();
    if (given == null) {
      throw new IllegalStateException("executor: null (expected: the application's)");
    }
    return given;
  }

  /** What is still to be called back is; a thread that has nothing to do ends at once. */
  private static void letThreadsEnd(@Nullable ThreadPoolExecutor own) {
    if (own != null) {
      own.setKeepAliveTime(0, TimeUnit.NANOSECONDS);
    }
  }

  private static ThreadPoolExecutor ownExecutor(String prefix) {
    AtomicInteger number = new AtomicInteger();
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        10,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        task -> {
          Thread thread = new Thread(task, prefix + "-handler-" + number.incrementAndGet());
          thread.setDaemon(true);
          return thread;
        });
  }

  /** Starts the first connection; the client is there when it is. */
  CompletableFuture<EventBusClient> start() {
    maintenance.start();
    return connector.start().thenApply(connected -> new BusClient(this));
  }

  /** What consumers tell. */
  private record Callbacks(Notifier notifier, Counters counters)
      implements PushConsumer.Environment {
    @Override
    public void handlerFailed(
        SubscriptionState subscription, ReceivedEvent event, Throwable failure) {
      subscription.failed.increment();
      counters.handlerFailures.increment();
      LOG.debug("the handler of {} failed", subscription.filter(), failure);
      notifier.tell(listener -> listener.handlerFailed(subscription, event, failure));
    }

    @Override
    public void finished(SubscriptionState subscription) {
      notifier.complete(subscription::completeFinished);
    }
  }
}
