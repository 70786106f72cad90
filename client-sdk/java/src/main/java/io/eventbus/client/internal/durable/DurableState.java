package io.eventbus.client.internal.durable;

import io.eventbus.client.DurableHandler;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Start;
import io.eventbus.client.Truncated;
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
final class DurableState extends FedConsumer<DurableSubscription> implements DurableSubscription {
  /** Settings of a consumer. */
  record Settings(String name, String filter, String journal, Start start, int bufferBytes) {}

  final LongAdder received = new LongAdder();
  final LongAdder failed = new LongAdder();
  private final LongAdder duplicates = new LongAdder();
  private final Settings settings;
  private final DurableRunner runner;
  private volatile FeedProgress progress;
  // Of the item that the handler has; written by the run.
  private volatile FeedProgress taken;
  private volatile String journal;
  private volatile boolean stopping;
  // The bus was asked to end it.
  private volatile boolean asked;
  private volatile boolean ended;
  // The handler has stopped after the end.
  private volatile boolean over;

  DurableState(
      long id,
      Settings settings,
      DurableHandler handler,
      DurableConsumers.Environment environment) {
    super(id, environment);
    this.settings = settings;
    this.journal = settings.journal();
    this.progress =
        new FeedProgress(
            id, settings.bufferBytes(), !settings.name().isEmpty(), environment.clock().nanoTime());
    this.taken = progress;
    this.runner = new DurableRunner(this, handler, environment);
  }

  // ---- What the bus says

  @Override
  @Nullable Truncated accepted(FeedLine line, String found, long created) {
    journal = found;
    Truncated told = null;
    if (!progress.isOf(created)) {
      told = progress.left(settings.filter());
      progress = progress.replaced(created, told, environment.clock().nanoTime());
      runner.wake();
    }
    progress.accepted(line).forEach(Runnable::run);
    return told;
  }

  @Override
  void lost(FeedLine line) {
    progress.lost(line);
  }

  @Override
  void leave(FeedLine line) {
    // The frame that ends it settles the handled events.
  }

  @Override
  void settled(FeedLine line, long upTo) {
    // Nothing is settled with an answer.
  }

  @Override
  boolean settleRefused(FeedLine line, EventBusException failure) {
    return false;
  }

  @Override
  long covered() {
    return progress.covered();
  }

  @Override
  void fed(FeedLine line, FeedView feed, ByteBuffer message, int repeated, int bytes) {
    duplicates.add(repeated);
    progress.fed(line, feed, message, bytes).forEach(Runnable::run);
    settle(false);
    runner.wake();
  }

  @Override
  @Nullable Truncated truncated(FeedLine line, long from, long to, Truncated.Reason reason) {
    Truncated told = progress.truncated(line, settings.filter(), from, to, reason);
    runner.wake();
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
      finish();
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
    return awaitReady();
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

  @Override
  CompletableFuture<Void> stop() {
    stopping = true;
    runner.wake();
    return finished();
  }

  @Override
  boolean isHandledByThisThread() {
    return runner.isRunByThisThread();
  }

  @Override
  public Counters counters() {
    return new Counters(received.sum(), duplicates.sum(), failed.sum(), progress.bufferedBytes());
  }

  // ---- As a registration

  @Override
  DurableSubscription view() {
    return this;
  }

  @Override
  public byte[] beginFrame() {
    Start start = settings.start();
    ConsumeStart given = ConsumeStart.valueOf(start.kind().name());
    FeedProgress present = progress;
    boolean goesOn = settings.name().isEmpty() && present.isKnown();
    Consume consume =
        new Consume(
            id(),
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
    byte[] end = ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(id()));
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
  public void end() {
    ended = true;
    progress.end();
    environment.ended(id());
    runner.wake();
  }
}
