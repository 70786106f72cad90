package io.eventbus.client.internal.inbound;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Gap;
import io.eventbus.client.SubscribeOptions;
import io.eventbus.client.Subscription;
import io.eventbus.client.internal.base.Counters;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Subscribe;
import io.eventbus.schema.Unsubscribe;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Subscription: what the bus was told, what arrived, and where it goes. Any thread may use it. */
public final class SubscriptionState implements Subscription, Registration {
  final InboundQueue queue;
  final EventReader reader;
  final LongAdder received = new LongAdder();
  final LongAdder duplicates = new LongAdder();
  final LongAdder missing = new LongAdder();
  final LongAdder interruptions = new LongAdder();
  final LongAdder failed = new LongAdder();

  // Arrivals of the WebSocket message that is being read; confined to the Dispatcher.
  final List<Inbound> arrived = new ArrayList<>();
  long arrivedBytes;
  // Of the messages that these came in.
  long arrivedMessageBytes;
  private @Nullable ByteBuffer lastMessage;

  private final @Nullable LatestEvents latest;
  private final long id;
  private final TopicFilter filter;
  private final SubscribeOptions options;
  private final CompletableFuture<Subscription> ready = new CompletableFuture<>();
  private final CompletableFuture<Void> finished = new CompletableFuture<>();
  private final Consumer<SubscriptionState> unsubscriber;
  private volatile Runnable wake = () -> {};
  private volatile boolean confirmed;
  private volatile boolean awaited;
  // Microseconds since the epoch since when no bus has it in force; 0 while one has. Guarded by
  // Subscriptions.
  long awaySince;
  private volatile @Nullable Thread handlerThread;

  public SubscriptionState(
      long id,
      TopicFilter filter,
      SubscribeOptions options,
      Acks acks,
      MicroClock clock,
      Consumer<SubscriptionState> unsubscriber,
      BiConsumer<SubscriptionState, Gap> conflated) {
    this.id = id;
    this.filter = filter;
    this.options = options;
    this.unsubscriber = unsubscriber;
    this.latest =
        options.overflow() == io.eventbus.client.Overflow.CONFLATE ? new LatestEvents() : null;
    this.queue =
        new InboundQueue(
            options.bufferBytes(),
            options.overflow() == io.eventbus.client.Overflow.BLOCK
                ? null
                : new BufferPolicy(
                    options.overflow(),
                    filter.toString(),
                    options.bufferBytes(),
                    latest,
                    clock::epochMicros),
            clock::nanoTime);
    this.reader =
        new EventReader(
            queue,
            acks,
            received,
            options.bufferBytes(),
            latest,
            filter.toString(),
            gap -> conflated.accept(this, gap));
  }

  /** Adds what arrived for it; confined to the Dispatcher. */
  @SuppressWarnings("ReferenceEquality") // The same message, not one that has the same bytes.
  void arrive(Inbound what) {
    arrived.add(what);
    arrivedBytes += what.bytes();
    if (what instanceof InboundDelivery events && events.message != lastMessage) {
      lastMessage = events.message;
      arrivedMessageBytes += events.message.capacity();
    }
    if (latest != null && what instanceof InboundDelivery events) {
      latest.add(events);
      arrivedBytes += LatestEvents.bytes(events);
    }
  }

  /** Returns whether what waits for it stalls the whole connection, instead of being dropped. */
  boolean stallsConnection() {
    return options.overflow() == io.eventbus.client.Overflow.BLOCK;
  }

  /** Returns the number of bytes that may come for it before its policy has to act. */
  long room() {
    return stallsConnection() ? queue.room() : options.bufferBytes();
  }

  /** Gives what arrived to the queue; returns whether that stalls the connection now. */
  boolean offerArrived() {
    boolean full = queue.offer(arrived, arrivedBytes, arrivedMessageBytes);
    arrived.clear();
    arrivedBytes = 0;
    arrivedMessageBytes = 0;
    lastMessage = null;
    return full;
  }

  /**
   * Sets the task that runs whenever something arrives or ends; must be called before subscribing.
   */
  public void onArrival(Runnable consumer) {
    wake = consumer;
  }

  void wakeConsumer() {
    wake.run();
  }

  /** Sets the thread that calls the handler from now on; null for none. */
  void handledBy(@Nullable Thread thread) {
    handlerThread = thread;
  }

  public boolean isHandledByThisThread() {
    return handlerThread == Thread.currentThread();
  }

  @Override
  public long id() {
    return id;
  }

  @Override
  public boolean isExclusive() {
    return options.group() != null;
  }

  boolean matches(String topic) {
    return filter.matches(topic);
  }

  @Override
  public byte[] beginFrame() {
    Overflow overflow = Overflow.valueOf(options.overflow().name());
    return ControlFrames.encode(
        TypeCode.SUBSCRIBE, new Subscribe(id, filter.toString(), options.group(), overflow));
  }

  @Override
  public byte[] endFrame() {
    return ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(id));
  }

  @Override
  public boolean isConfirmed() {
    return confirmed;
  }

  @Override
  public void confirm() {
    confirmed = true;
  }

  @Override
  public SubscriptionState events() {
    return this;
  }

  @Override
  public void completeReady() {
    ready.complete(this);
  }

  @Override
  public void failReady(EventBusException failure) {
    ready.completeExceptionally(failure);
  }

  void completeFinished() {
    finished.complete(null);
  }

  /** Ends it: nothing more comes from the bus; what is here is still handled. */
  @Override
  public void end() {
    queue.end();
    wakeConsumer();
  }

  @Override
  public void abandon() {
    end();
  }

  @Override
  public boolean isAwaited() {
    return awaited;
  }

  /** Discards what waits: nothing more is handled. */
  @Override
  public void discard() {
    queue.discard();
    wakeConsumer();
  }

  @Override
  public String filter() {
    return filter.toString();
  }

  @Override
  public SubscribeOptions options() {
    return options;
  }

  @Override
  public CompletionStage<Subscription> ready() {
    awaited = true;
    return ready;
  }

  public CompletableFuture<Void> finished() {
    return finished;
  }

  @Override
  public CompletionStage<Void> unsubscribe() {
    unsubscriber.accept(this);
    return finished;
  }

  @Override
  public Counters counters() {
    return new Counters(
        received.sum(),
        duplicates.sum(),
        missing.sum(),
        interruptions.sum(),
        failed.sum(),
        queue.bytes());
  }
}
