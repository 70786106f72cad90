package io.eventbus.client.internal;

import io.eventbus.client.ClientOptions;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.internal.base.Counters;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Notifier;
import io.eventbus.client.internal.base.Outside;
import io.eventbus.client.internal.base.Scheduler;
import io.eventbus.client.internal.call.CallTable;
import io.eventbus.client.internal.connection.BusLink;
import io.eventbus.client.internal.connection.CallTraffic;
import io.eventbus.client.internal.connection.ConnectionTraffic;
import io.eventbus.client.internal.connection.Connector;
import io.eventbus.client.internal.durable.DurableConsumers;
import io.eventbus.client.internal.inbound.Acks;
import io.eventbus.client.internal.inbound.ConsumerCallbacks;
import io.eventbus.client.internal.inbound.Dispatcher;
import io.eventbus.client.internal.inbound.PushConsumer;
import io.eventbus.client.internal.inbound.ReadGate;
import io.eventbus.client.internal.inbound.Subscriptions;
import io.eventbus.client.internal.outbound.Barriers;
import io.eventbus.client.internal.outbound.CallOutlet;
import io.eventbus.client.internal.outbound.EventEncoder;
import io.eventbus.client.internal.outbound.Outbox;
import io.eventbus.client.internal.outbound.Sender;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

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
    DurableConsumers durable,
    PushConsumer.Environment environment,
    Connector connector) {

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
    Subscriptions subscriptions = new Subscriptions(outbox::addControl, notifier, clock);
    ReadGate gate = new ReadGate();
    ConsumerCallbacks consumers =
        new ConsumerCallbacks(notifier, counters, executor, outside.conductor(), clock, gate);
    Dispatcher dispatcher =
        new Dispatcher(
            subscriptions, acks, counters, notifier, gate, clock, options.trackedProducers());
    Barriers barriers = new Barriers(outbox, notifier, outside.conductor());
    CallTraffic calls = calls(options, outside, outbox, encoder, notifier, executor);
    DurableConsumers durable =
        new DurableConsumers(
            subscriptions, notifier, counters, executor, outside.conductor(), clock);
    BusLink.Parts linkParts =
        new BusLink.Parts(
            outbox, subscriptions, dispatcher, barriers, counters, notifier, calls, durable);
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
              consumers.close();
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
        durable,
        consumers,
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

  /** Starts the first connection; the client is there when it is. */
  CompletableFuture<EventBusClient> start() {
    // First: the end of the client, which may come at once, removes it.
    OpenClients.ALL.add(new OpenClients.Client(options.name(), outbox, barriers, options, clock));
    maintenance.start();
    return connector.start().thenApply(connected -> new BusClient(this));
  }
}
