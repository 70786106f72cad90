package io.eventbus.client.internal.durable;

import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Start;
import io.eventbus.client.Truncated;
import io.eventbus.client.internal.inbound.Registration;
import io.eventbus.client.internal.inbound.SubscriptionState;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FeedView;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Unsubscribe;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Consumer: what the bus was told of it, and what came of it. Any thread may use it. */
final class DurableState implements DurableSubscription, Registration {
  /** Settings of a consumer. */
  record Settings(String name, String filter, String journal, Start start, int bufferBytes) {}

  final LongAdder received = new LongAdder();
  final LongAdder failed = new LongAdder();
  private final LongAdder duplicates = new LongAdder();
  private final long id;
  private final Settings settings;
  private final DurableConsumers.Environment environment;
  private volatile FeedProgress progress;
  // Of the item that the handler has; written by the run.
  private volatile FeedProgress taken;
  private final CompletableFuture<DurableSubscription> ready = new CompletableFuture<>();
  private final CompletableFuture<Void> finished = new CompletableFuture<>();
  private volatile Runnable wake = () -> {};
  private volatile boolean confirmed;
  private volatile boolean awaited;
  private volatile String journal;
  private volatile boolean stopping;
  // The bus was asked to end it.
  private volatile boolean asked;
  private volatile boolean ended;
  // The handler has stopped after the end.
  private volatile boolean over;

  DurableState(long id, Settings settings, DurableConsumers.Environment environment) {
    this.id = id;
    this.settings = settings;
    this.environment = environment;
    this.journal = settings.journal();
    this.progress =
        new FeedProgress(
            id, settings.bufferBytes(), !settings.name().isEmpty(), environment.clock().nanoTime());
    this.taken = progress;
  }

  /** Sets the task that runs whenever there is something to do; before the first frame. */
  void onWork(Runnable consumer) {
    wake = consumer;
  }

  // ---- What the bus says

  /**
   * Notes that the bus has accepted it, and the journal that the bus has found. Returns what the
   * consumer does not get because its journal was deleted, or null.
   *
   * @param created which creation of the journal; 0 if the bus does not tell
   */
  @Nullable Truncated accepted(FeedLine line, String found, long created) {
    journal = found;
    Truncated told = null;
    if (!progress.isOf(created)) {
      told = progress.left(settings.filter());
      progress = progress.replaced(created, told, environment.clock().nanoTime());
      wake.run();
    }
    progress.accepted(line).forEach(Runnable::run);
    return told;
  }

  /** Notes that it has ended at the bus, or its connection has. */
  void lost(FeedLine line) {
    progress.lost(line);
  }

  /** Returns the last position that was fed; 0 before the first. */
  long covered() {
    return progress.covered();
  }

  /** Takes a {@code Feed} whose frames were checked. */
  void fed(FeedLine line, FeedView feed, ByteBuffer message, int repeated, int bytes) {
    duplicates.add(repeated);
    progress.fed(line, feed, message, bytes).forEach(Runnable::run);
    settle(false);
    wake.run();
  }

  /** Takes a {@code Truncated}; returns what is new of it, or null. */
  @Nullable Truncated truncated(FeedLine line, long from, long to, Truncated.Reason reason) {
    Truncated told = progress.truncated(line, settings.filter(), from, to, reason);
    wake.run();
    return told;
  }

  // ---- What the handler does

  /** Takes the next item; null if there is none, or the handler has to stop. */
  @Nullable FedItem take() {
    taken = progress;
    return stopping ? null : taken.take();
  }

  /** Returns whether the item that the handler has is of a journal that was deleted. */
  boolean isReplaced() {
    return taken != progress;
  }

  boolean isStopping() {
    return stopping || ended;
  }

  /** Returns whether there is something to do for a handler that holds an item or none. */
  boolean hasWork(boolean holdsItem) {
    if (ended) {
      return !over;
    }
    if (stopping) {
      return !asked;
    }
    return holdsItem || !progress.isEmpty();
  }

  /** Notes that everything up to a position is handled. */
  void handled(long position) {
    taken.handled(position);
    settle(false);
  }

  /**
   * Returns whether a position is handled, by another consumer if not by this one, or is one of a
   * journal that was deleted.
   */
  boolean isHandled(long position) {
    return isReplaced() || position <= taken.handled();
  }

  /** Returns whether the handler has to be told of events that do not come. */
  boolean isToBeTold(FedItem.Missing missing) {
    return missing.isOfDeleted() || !isHandled(missing.to());
  }

  /** Notes that an item was handled whole. */
  void done(FedItem item) {
    taken.done(item).forEach(Runnable::run);
    settle(false);
  }

  /** Tells the bus what is handled, now or in a moment. */
  private void settle(boolean byTimer) {
    FeedProgress present = progress;
    long wait = present.settle(byTimer, environment.clock().nanoTime());
    if (wait == 0) {
      environment.subscriptions().tell(this, settlement(present));
    } else if (wait > 0) {
      environment.conductor().schedule(() -> settle(true), wait);
    }
  }

  private byte[] settlement(FeedProgress present) {
    return ControlFrames.encode(
        TypeCode.SETTLE, present.settlement(environment.clock().nanoTime()));
  }

  /** Ends it at the bus, because the handler has stopped; completes the stage if it has ended. */
  void stopped() {
    if (ended) {
      over = true;
      environment.notifier().complete(() -> finished.complete(null));
    } else {
      asked = true;
      environment.subscriptions().unsubscribe(this);
    }
  }

  // ---- For the application

  @Override
  public String name() {
    return settings.name();
  }

  @Override
  public String filter() {
    return settings.filter();
  }

  @Override
  public CompletionStage<DurableSubscription> ready() {
    awaited = true;
    return ready;
  }

  @Override
  public long position() {
    return progress.handled();
  }

  @Override
  public long lag() {
    return progress.lag();
  }

  @Override
  public CompletionStage<Void> unsubscribe() {
    return stop();
  }

  CompletableFuture<Void> stop() {
    stopping = true;
    wake.run();
    return finished;
  }

  @Override
  public Counters counters() {
    return new Counters(received.sum(), duplicates.sum(), failed.sum(), progress.bufferedBytes());
  }

  // ---- As a registration

  @Override
  public long id() {
    return id;
  }

  @Override
  public byte[] beginFrame() {
    Start start = settings.start();
    ConsumeStart given = ConsumeStart.valueOf(start.kind().name());
    FeedProgress present = progress;
    boolean goesOn = settings.name().isEmpty() && present.isKnown();
    Consume consume =
        new Consume(
            id,
            settings.filter(),
            journal,
            settings.name(),
            ConsumeMode.EXCLUSIVE,
            goesOn ? ConsumeStart.POSITION : given,
            goesOn ? present.covered() + 1 : start.value(),
            present.ask(),
            present.creation(),
            given,
            start.value(),
            0,
            0,
            0);
    return ControlFrames.encode(TypeCode.CONSUME, consume);
  }

  @Override
  public byte[] endFrame() {
    byte[] end = ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(id));
    FeedProgress present = progress;
    if (!present.hasToSettle()) {
      return end;
    }
    byte[] settlement = settlement(present);
    byte[] both = Arrays.copyOf(settlement, settlement.length + end.length);
    System.arraycopy(end, 0, both, settlement.length, end.length);
    return both;
  }

  @Override
  public boolean isExclusive() {
    return false;
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
  public @Nullable SubscriptionState events() {
    return null;
  }

  @Override
  public void completeReady() {
    ready.complete(this);
  }

  @Override
  public void failReady(EventBusException failure) {
    ready.completeExceptionally(failure);
  }

  @Override
  public boolean isAwaited() {
    return awaited;
  }

  @Override
  public void discard() {
    end();
  }

  @Override
  public void end() {
    ended = true;
    progress.end();
    environment.ended(id);
    wake.run();
  }

  @Override
  public void abandon() {
    end();
  }
}
