package io.eventbus.client.internal.durable;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Start;
import io.eventbus.client.Truncated;
import io.eventbus.client.WorkHandler;
import io.eventbus.client.Worker;
import io.eventbus.client.internal.base.Scheduler;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FeedView;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.SettleOutcome;
import io.eventbus.schema.Unsubscribe;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Consumer of a shared durable subscription: what the bus was told of it, and what came of it. Any
 * thread may use it.
 */
final class WorkerState extends FedConsumer<Worker> implements Worker {
  /** Time for which settlements are collected. */
  private static final long COLLECT_NANOS = TimeUnit.MILLISECONDS.toNanos(3);

  private static final long ANSWER_SECONDS = 10;

  /** Settings of a worker. */
  record Settings(
      DurableState.Settings consumer,
      ConsumeMode mode,
      int maxUnsettled,
      Duration ackTimeout,
      int maxAttempts,
      int concurrency) {}

  private final Settings settings;
  private final WorkerCounts counts = new WorkerCounts();
  private final WorkerFeeds feeds;
  private final WorkerRunner runner;
  // Whether the end of the collecting, and the next look at what waits for long, have a timer.
  private final AtomicBoolean collects = new AtomicBoolean();
  private final AtomicBoolean looks = new AtomicBoolean();
  private volatile String journal;
  private volatile boolean ended;

  WorkerState(
      long id, Settings settings, WorkHandler handler, DurableConsumers.Environment environment) {
    super(id, environment);
    this.settings = settings;
    this.journal = settings.consumer().journal();
    this.feeds =
        new WorkerFeeds(this, settings.consumer().bufferBytes(), settings.ackTimeout().toNanos());
    this.runner = new WorkerRunner(this, handler, settings.concurrency(), environment);
  }

  private void runTasks() {
    feeds.tasks().forEach(Runnable::run);
  }

  WorkerCounts counts() {
    return counts;
  }

  /** Returns the task that completes a stage. */
  Runnable success(CompletableFuture<Void> stage) {
    return () -> environment.notifier().complete(() -> stage.complete(null));
  }

  /** Returns the task that fails a stage. */
  Runnable failure(CompletableFuture<Void> stage, EventBusException failure) {
    return () -> environment.notifier().fail(() -> stage.completeExceptionally(failure));
  }

  // ---- What the bus says

  @Override
  @Nullable Truncated accepted(FeedLine line, String found, long created) {
    journal = found;
    Truncated told = feeds.accepted(line, filter(), created);
    runTasks();
    return told;
  }

  @Override
  void lost(FeedLine line) {
    feeds.lost(line);
    runTasks();
  }

  @Override
  void leave(FeedLine line) {
    feeds.leave(line);
    runTasks();
  }

  @Override
  long covered() {
    // An event comes again as often as it fails.
    return 0;
  }

  @Override
  void fed(FeedLine line, FeedView feed, ByteBuffer message, int repeated, int bytes) {
    if (feeds.fed(line, feed, message, bytes, now())) {
      runTasks();
      runner.wake();
      lookLater();
    }
  }

  private long now() {
    return environment.clock().nanoTime();
  }

  @Override
  @Nullable Truncated truncated(FeedLine line, long from, long to, Truncated.Reason reason) {
    return feeds.truncated(line, to) ? new Truncated(filter(), from, to, reason) : null;
  }

  @Override
  void settled(FeedLine line, long upTo) {
    feeds.settled(line, upTo);
    runTasks();
  }

  @Override
  boolean settleRefused(FeedLine line, EventBusException failure) {
    boolean told = feeds.refused(line, failure);
    runTasks();
    return told;
  }

  /** Looks at what waits for long, again and again while there is anything. */
  private void lookLater() {
    if (!ended && looks.compareAndSet(false, true)) {
      Scheduler.Timer unused =
          environment.conductor().schedule(this::look, settings.ackTimeout().toNanos() / 4);
    }
  }

  private void look() {
    looks.set(false);
    boolean more = feeds.look(now());
    runTasks();
    if (more) {
      lookLater();
    }
  }

  // ---- What handlers do

  boolean hasWork() {
    return feeds.hasWork();
  }

  /** Takes the next event; null if none waits. */
  @Nullable OpenDelivery take() {
    OpenDelivery next = feeds.take(now());
    runTasks();
    if (next != null) {
      counts.received.increment();
      environment.counters().received.increment();
    }
    return next;
  }

  /** Notes that the handler has returned. */
  void returned(OpenDelivery delivery) {
    if (feeds.isDone(delivery)) {
      delivery.done();
    }
  }

  /** Notes that the handler has failed. */
  void failed(OpenDelivery delivery, Throwable failure) {
    String message = failure.getMessage();
    settle(delivery, SettleOutcome.RETRY, -1, message == null ? failure.toString() : message);
    counts.failed.increment();
    environment.counters().handlerFailures.increment();
    long position = delivery.event.position();
    environment.notifier().tell(listener -> listener.handlerFailed(this, position, failure));
  }

  void defer(OpenDelivery delivery) {
    feeds.defer(delivery);
  }

  /** Settles an event unless it is settled. */
  void settle(OpenDelivery delivery, SettleOutcome outcome, int delayMillis, String reason) {
    if (feeds.settle(delivery, delivery.range(outcome, delayMillis, SettledRange.cut(reason)))) {
      runTasks();
      collect();
    }
  }

  CompletableFuture<Void> settleConfirmed(OpenDelivery delivery) {
    CompletableFuture<Void> stage = feeds.settleConfirmed(delivery);
    if (!stage.isDone()) {
      EventBusException late =
          new EventBusException.TimedOut(
              "the bus did not confirm within "
                  + ANSWER_SECONDS
                  + " s that the event at position "
                  + delivery.event.position()
                  + " is settled: it may come again");
      Scheduler.Timer timer =
          environment
              .conductor()
              .schedule(failure(stage, late), TimeUnit.SECONDS.toNanos(ANSWER_SECONDS));
      CompletableFuture<Void> unused = stage.whenComplete((done, failure) -> timer.cancel());
    }
    runTasks();
    return stage;
  }

  void extend(OpenDelivery delivery) {
    if (feeds.extend(delivery, now())) {
      collect();
    }
  }

  private void collect() {
    if (settings.mode() == ConsumeMode.KEY_SHARED && !feeds.waits()) {
      // The next events of these keys come only then.
      flush();
    } else if (collects.compareAndSet(false, true)) {
      Scheduler.Timer unused =
          environment
              .conductor()
              .schedule(
                  () -> {
                    collects.set(false);
                    flush();
                  },
                  COLLECT_NANOS);
    }
  }

  /** Sends the settlements that were collected. */
  void flush() {
    feeds.flush();
    runTasks();
  }

  // ---- For the application

  @Override
  public String name() {
    return settings.consumer().name();
  }

  @Override
  public String filter() {
    return settings.consumer().filter();
  }

  @Override
  public CompletionStage<Worker> ready() {
    return awaitReady();
  }

  @Override
  public CompletionStage<Void> unsubscribe() {
    return stop();
  }

  @Override
  public Counters counters() {
    return counts.snapshot(feeds.bufferedBytes());
  }

  // ---- The end

  @Override
  CompletableFuture<Void> stop() {
    feeds.stop();
    runTasks();
    environment.subscriptions().unsubscribe(this);
    return finished();
  }

  @Override
  boolean isHandledByThisThread() {
    return runner.isRunByThisThread();
  }

  /** Completes the stage of the end if the bus and all handlers have come to it. */
  void finishIfIdle() {
    if (ended && runner.isIdle()) {
      finish();
    }
  }

  // ---- As a registration

  @Override
  Worker view() {
    return this;
  }

  @Override
  public byte[] beginFrame() {
    Start start = settings.consumer().start();
    ConsumeStart given = ConsumeStart.valueOf(start.kind().name());
    Consume consume =
        new Consume(
            id(),
            filter(),
            journal,
            name(),
            settings.mode(),
            given,
            start.value(),
            feeds.ask(),
            feeds.creation(),
            given,
            start.value(),
            settings.maxUnsettled(),
            (int) settings.ackTimeout().toMillis(),
            settings.maxAttempts());
    return ControlFrames.encode(TypeCode.CONSUME, consume);
  }

  @Override
  public byte[] endFrame() {
    return ControlFrames.encode(TypeCode.UNSUBSCRIBE, new Unsubscribe(id()));
  }

  @Override
  public boolean isExclusive() {
    return true;
  }

  @Override
  public void end() {
    ended = true;
    feeds.end();
    runTasks();
    environment.ended(id());
    finishIfIdle();
  }
}
