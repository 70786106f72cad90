package io.eventbus.client.internal;

import io.eventbus.client.Answer;
import io.eventbus.client.AvroCodec;
import io.eventbus.client.ClientCounters;
import io.eventbus.client.ClientOptions;
import io.eventbus.client.ClientState;
import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.DurableBuilder;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventHandler;
import io.eventbus.client.EventStream;
import io.eventbus.client.PublishOptions;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.RequestHandler;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.Response;
import io.eventbus.client.SendResult;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.client.Subscription;
import io.eventbus.client.Tunnel;
import io.eventbus.client.TunnelOptions;
import io.eventbus.client.internal.base.Counters;
import io.eventbus.client.internal.base.Nanos;
import io.eventbus.client.internal.call.CallTable;
import io.eventbus.client.internal.inbound.FlowPublisher;
import io.eventbus.client.internal.inbound.PullStream;
import io.eventbus.client.internal.inbound.PushConsumer;
import io.eventbus.client.internal.inbound.Registration;
import io.eventbus.client.internal.inbound.ServiceState;
import io.eventbus.client.internal.inbound.SubscriptionState;
import io.eventbus.client.internal.inbound.Subscriptions;
import io.eventbus.client.internal.outbound.EventEncoder;
import io.eventbus.client.internal.outbound.OpenBatch;
import io.eventbus.client.internal.outbound.Outbox;
import io.eventbus.client.internal.outbound.TopicState;
import io.eventbus.protocol.DurationText;
import io.eventbus.protocol.ServiceName;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.TopicFilter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.specific.SpecificRecord;
import org.jspecify.annotations.Nullable;

/** Implementation of the public API: puts the parts together. Any thread may use it. */
final class BusClient implements EventBusClient {
  private static final int MAX_CODECS = 10_000;

  private final ClientParts parts;
  private final ClientOptions options;
  private final Outbox outbox;
  private final EventEncoder encoder;
  private final Consumer<OpenBatch.EncodedEvent> check;
  private final Subscriptions subscriptions;
  private final Map<Schema, AvroCodec<IndexedRecord>> codecs = new ConcurrentHashMap<>();
  // Result of the first call that closes.
  private volatile boolean drained = true;

  BusClient(ClientParts parts) {
    this.parts = parts;
    this.options = parts.options();
    this.outbox = parts.outbox();
    this.encoder = parts.encoder();
    this.check = encoder::checkAgain;
    this.subscriptions = parts.subscriptions();
  }

  // ---- Publishing

  @Override
  public CompletionStage<Published> publish(String topic, Event event) {
    return publish(topic, event, null, EventEncoder::checkTopic);
  }

  @Override
  public CompletionStage<Published> publish(String topic, Event event, PublishOptions how) {
    try {
      return publish(topic, event, how, EventEncoder::checkTopic);
    } catch (EventBusException.Refused e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private CompletionStage<Published> publish(
      String topic, Event event, @Nullable PublishOptions how, Consumer<String> checkTopic) {
    CompletableFuture<Published> stage = new CompletableFuture<>();
    switch (add(topic, event, how, stage, checkTopic)) {
      case ACCEPTED -> {}
      case CLOSED -> stage.completeExceptionally(closed());
      case FULL, DROPPED ->
          stage.completeExceptionally(
              new EventBusException.BufferFull(
                  "the outbound buffer of "
                      + options.outbound().bufferBytes()
                      + " bytes is full (outboundBufferBytes)"));
    }
    return stage;
  }

  @Override
  public SendResult send(String topic, Event event) {
    return add(topic, event, null, null, EventEncoder::checkTopic);
  }

  private SendResult add(
      String topic,
      Event event,
      @Nullable PublishOptions how,
      @Nullable CompletableFuture<Published> stage,
      Consumer<String> checkTopic) {
    TopicState state = outbox.knownTopic(topic);
    // A system topic may be known because something was broadcast.
    if (state == null || topic.charAt(0) == Topic.SYSTEM) {
      checkTopic.accept(topic);
    }
    OpenBatch.EncodedEvent encoded = encoder.encode(event, how);
    if (state == null) {
      state = outbox.topic(topic);
    }
    return outbox.add(state, encoded, stage, check);
  }

  private EventBusException closed() {
    return parts.connector().closedException();
  }

  @Override
  public CompletionStage<Published> publish(String topic, SpecificRecord record) {
    return publish(topic, Event.of(codec(record.getSchema()), record));
  }

  @Override
  public CompletionStage<Published> publish(String topic, Schema schema, GenericRecord record) {
    return publish(topic, Event.of(codec(schema), record));
  }

  @Override
  public SendResult send(String topic, SpecificRecord record) {
    return send(topic, Event.of(codec(record.getSchema()), record));
  }

  @Override
  public SendResult send(String topic, Schema schema, GenericRecord record) {
    return send(topic, Event.of(codec(schema), record));
  }

  private AvroCodec<IndexedRecord> codec(Schema schema) {
    AvroCodec<IndexedRecord> known = codecs.get(schema);
    if (known == null) {
      if (codecs.size() >= MAX_CODECS) {
        // Schemas that are generated at run time must not fill the memory.
        codecs.clear();
      }
      known = AvroCodec.writing(schema);
      codecs.put(schema, known);
    }
    return known;
  }

  // ---- Subscribing

  @Override
  public Subscription subscribe(String filter, SubscribeOptions how, EventHandler handler) {
    Objects.requireNonNull(handler, "handler");
    return register(
        filter,
        how,
        state -> {
          PushConsumer consumer = new PushConsumer(state, handler, parts.environment());
          return consumer::wake;
        });
  }

  @Override
  public EventStream stream(String filter, SubscribeOptions how) {
    PullStream[] made = new PullStream[1];
    register(
        filter,
        how,
        state -> {
          PullStream stream = new PullStream(state, parts.environment());
          made[0] = stream;
          return stream::wake;
        });
    return made[0];
  }

  @Override
  public Flow.Publisher<ReceivedEvent> publisher(String filter, SubscribeOptions how) {
    parse(filter);
    return new FlowPublisher(consumer -> register(filter, how, consumer), parts.environment());
  }

  private SubscriptionState register(
      String filter, SubscribeOptions how, Function<SubscriptionState, Runnable> consumer) {
    SubscriptionState state =
        new SubscriptionState(
            subscriptions.takeId(),
            parse(filter),
            how,
            parts.acks(),
            parts.clock(),
            subscriptions::unsubscribe,
            parts.environment()::conflated);
    state.onArrival(consumer.apply(state));
    begin(state, "the subscription");
    return state;
  }

  private static TopicFilter parse(String filter) {
    String problem = TopicFilter.problem(filter);
    if (problem != null) {
      throw new EventBusException.IllegalTopic(problem);
    }
    return TopicFilter.parse(filter);
  }

  // ---- Durable topics

  @Override
  public DurableBuilder durable(String name) {
    if (name.isEmpty()) {
      throw new EventBusException.IllegalTopic(
          "name of the durable subscription: empty (expected: a name)");
    }
    return consumer(name);
  }

  @Override
  public DurableBuilder replay() {
    return consumer("");
  }

  private DurableBuilder consumer(String name) {
    return parts.durable().builder(name, registration -> begin(registration, "the consumer"));
  }

  // ---- Services

  @Override
  public CompletableFuture<Response> request(String service, Event event, RequestOptions how) {
    return parts.calls().calls().pending().request(service, event, how);
  }

  @Override
  public Response call(String service, Event event, RequestOptions how) {
    return parts.calls().calls().pending().call(service, event, how);
  }

  @Override
  public Flow.Publisher<Answer> gather(String service, Event event, RequestOptions how) {
    return parts.calls().calls().pending().gather(service, event, how);
  }

  @Override
  public CompletionStage<Published> broadcast(String service, Event event) {
    checkService(service);
    return publish(ServiceName.broadcastTopic(service), event, null, topic -> {});
  }

  @Override
  public CompletableFuture<Tunnel> tunnel(String service, Event event, TunnelOptions how) {
    return parts.calls().calls().tunnel(service, event, how);
  }

  @Override
  public Flow.Publisher<Response> requestStream(String service, Event event, TunnelOptions how) {
    String problem = ServiceName.problem(service);
    if (problem != null) {
      throw new EventBusException.IllegalTopic(problem);
    }
    return parts.calls().calls().stream(service, event, how);
  }

  @Override
  public Service serve(String name, ServiceOptions how, RequestHandler handler) {
    Objects.requireNonNull(handler, "handler");
    checkService(name);
    long id = subscriptions.takeId();
    CallTable calls = parts.calls().calls();
    ServiceState service =
        new ServiceState(
            id,
            name,
            how,
            calls.serve(id, name, how, handler),
            broadcasts(id, name, how),
            new ServiceState.Environment(
                subscriptions, calls, parts.notifier(), parts.conductor(), parts.environment()));
    try {
      begin(service, "the service");
    } catch (EventBusException e) {
      calls.forget(id);
      throw e;
    }
    return service;
  }

  private static void checkService(String name) {
    String problem = ServiceName.problem(name);
    if (problem != null) {
      throw new EventBusException.IllegalTopic(problem);
    }
  }

  private SubscriptionState broadcasts(long id, String service, ServiceOptions how) {
    return new SubscriptionState(
        id,
        TopicFilter.parse(ServiceName.broadcastTopic(service)),
        new SubscribeOptions(null, how.overflow(), how.bufferBytes()),
        parts.acks(),
        parts.clock(),
        ended -> {},
        parts.environment()::conflated);
  }

  /** Registers something at the bus, which has to confirm it in time. */
  private void begin(Registration registration, String what) {
    subscriptions.add(registration);
    Duration timeout = options.outbound().confirmTimeout();
    parts
        .conductor()
        .schedule(
            () ->
                subscriptions.expire(
                    registration.id(),
                    new EventBusException.TimedOut(
                        "the bus did not confirm " + what + " within " + DurationText.of(timeout))),
            timeout.toNanos());
  }

  // ---- Waiting and closing

  @Override
  public CompletionStage<Void> flushAsync() {
    return ask(options.outbound().confirmTimeout());
  }

  private CompletableFuture<Void> ask(Duration timeout) {
    return parts.barriers().ask(timeout, parts.clock().nanoTime());
  }

  @Override
  public void flush(Duration timeout) {
    try {
      ask(timeout).get(Nanos.of(timeout), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new EventBusException.TimedOut("flush was interrupted");
    } catch (TimeoutException e) {
      throw new EventBusException.TimedOut("flush took longer than " + DurationText.of(timeout));
    } catch (ExecutionException e) {
      if (e.getCause() instanceof EventBusException known) {
        throw known;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  @Override
  public boolean close(Duration timeout) {
    if (state() == ClientState.CLOSED) {
      return drained;
    }
    long deadline = System.nanoTime() + Nanos.of(timeout);
    // The shutdown hook leaves this client to this call.
    OpenClients.ALL.remove(outbox);
    parts.connector().drain();
    outbox.close();
    boolean complete = false;
    try {
      CompletableFuture<Void> answered = parts.calls().calls().pending().drain();
      CompletableFuture<Void> consumers = parts.durable().stop();
      boolean consumed = timeout.isZero() || waits(consumers, deadline);
      List<Registration> all = subscriptions.close();
      List<SubscriptionState> ending = of(SubscriptionState.class, all);
      // A handler that closes its own client cannot be waited for, here as below.
      List<ServiceState> services =
          of(ServiceState.class, all).stream().filter(s -> !s.isHandledByThisThread()).toList();
      CompletableFuture<Void> calls =
          CompletableFuture.allOf(answered, allOf(services, s -> s.closing(Nanos.of(timeout))));
      complete = !timeout.isZero() && consumed && drain(ending, calls, deadline);
      if (!complete) {
        ending.forEach(SubscriptionState::discard);
      }
      // Before the state is CLOSED, in which other calls ask for it.
      drained = complete;
      // The last step is short: only the conductor is waited for.
      parts.connector().closeSoon();
      parts.connector().closed().get(1, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      drained = complete;
      parts.connector().closeSoon();
    } catch (ExecutionException | TimeoutException e) {
      complete = false;
      drained = false;
    }
    return complete;
  }

  private static <R extends Registration> List<R> of(Class<R> kind, List<Registration> all) {
    return all.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  private static <T> CompletableFuture<Void> allOf(
      List<T> things, Function<T, CompletableFuture<?>> end) {
    return CompletableFuture.allOf(things.stream().map(end).toArray(CompletableFuture<?>[]::new));
  }

  private static boolean waits(CompletableFuture<Void> stage, long deadline)
      throws InterruptedException {
    try {
      stage.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      return true;
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
  }

  private boolean drain(
      List<SubscriptionState> ending, CompletableFuture<Void> calls, long deadline)
      throws InterruptedException {
    // A handler that closes its own client cannot be waited for.
    List<SubscriptionState> others =
        ending.stream().filter(s -> !s.isHandledByThisThread()).toList();
    try {
      CompletableFuture.allOf(calls, allOf(others, SubscriptionState::finished))
          .get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      parts.maintenance().acknowledge();
      long left = deadline - System.nanoTime();
      ask(Duration.ofNanos(left)).get(left, TimeUnit.NANOSECONDS);
      return outbox.unsettled() == 0;
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
  }

  @Override
  public void close() {
    close(options.connection().closeTimeout());
  }

  // ---- State

  @Override
  public ClientState state() {
    return parts.connector().state();
  }

  @Override
  public Optional<ConnectionInfo> connection() {
    return Optional.ofNullable(parts.connector().connection());
  }

  @Override
  public ClientCounters counters() {
    Outbox.Snapshot out = outbox.snapshot();
    Counters in = parts.counters();
    return new ClientCounters(
        out.published(),
        in.confirmed.sum(),
        out.resent(),
        out.droppedFull(),
        out.indeterminate(),
        out.messages(),
        in.received.sum(),
        in.duplicates.sum(),
        in.missing.sum(),
        in.handlerFailures.sum(),
        in.reconnects.sum(),
        in.busChanges.sum(),
        in.abandonedSubscriptions.sum(),
        out.topics(),
        out.used());
  }
}
