package io.eventbus.client.internal.durable;

import io.eventbus.client.DurableBuilder;
import io.eventbus.client.DurableHandler;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Truncated;
import io.eventbus.client.internal.base.Counters;
import io.eventbus.client.internal.base.MicroClock;
import io.eventbus.client.internal.base.Notifier;
import io.eventbus.client.internal.base.Scheduler;
import io.eventbus.client.internal.inbound.Registration;
import io.eventbus.client.internal.inbound.Subscriptions;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.DurableFrames;
import io.eventbus.protocol.FeedView;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Problem;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Consumers of a client, over all its connections. Frames come under the lock of the {@code
 * Dispatcher}; any thread may call the rest.
 */
public final class DurableConsumers {
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Environment environment;
  private final Map<Long, Entry> byId;
  private final FeedView feed = new FeedView();
  private final DeliverView deliver = new DeliverView();

  private record Entry(DurableState state, DurableRunner runner) {}

  /** Environment of consumers. */
  record Environment(
      Subscriptions subscriptions,
      Notifier notifier,
      Counters counters,
      Executor executor,
      Scheduler conductor,
      MicroClock clock,
      LongConsumer onEnd) {
    void ended(long id) {
      onEnd.accept(id);
    }
  }

  public DurableConsumers(
      Subscriptions subscriptions,
      Notifier notifier,
      Counters counters,
      Executor executor,
      Scheduler conductor,
      MicroClock clock) {
    byId = new ConcurrentHashMap<>();
    environment =
        new Environment(
            subscriptions, notifier, counters, executor, conductor, clock, byId::remove);
  }

  /**
   * Returns a builder of a consumer.
   *
   * @param name of the durable subscription; empty for none
   * @param begin registers the consumer at the bus
   */
  public DurableBuilder builder(String name, Consumer<Registration> begin) {
    return new DurableRequest(name, (settings, handler) -> begin(settings, handler, begin));
  }

  private DurableSubscription begin(
      DurableState.Settings settings, DurableHandler handler, Consumer<Registration> begin) {
    DurableState state =
        new DurableState(environment.subscriptions().takeId(), settings, environment);
    DurableRunner runner = new DurableRunner(state, handler, environment);
    state.onWork(runner::wake);
    byId.put(state.id(), new Entry(state, runner));
    try {
      begin.accept(state);
    } catch (EventBusException e) {
      byId.remove(state.id());
      throw e;
    }
    return state;
  }

  /**
   * Takes a {@code Feed}.
   *
   * @param frameBytes bytes of the whole frame
   * @throws io.eventbus.protocol.MalformedFrameException if it is malformed
   */
  public void feed(FeedLine line, ByteBuffer message, int from, int to, int frameBytes) {
    feed.read(message, from, to);
    Entry entry = byId.get(feed.id());
    if (entry == null) {
      // Under way when the consumer ended.
      return;
    }
    int again =
        FedEvents.check(
            deliver, message, feed.framesStart(), feed.framesEnd(), entry.state.covered());
    environment.counters().duplicates.add(again);
    entry.state.fed(line, feed, message, again, frameBytes);
  }

  /** Takes a {@code Truncated}. */
  public void truncated(FeedLine line, ByteBuffer message, int from, int to) {
    io.eventbus.schema.Truncated frame = DurableFrames.truncated(message, from, to);
    Entry entry = byId.get(frame.getId());
    if (entry == null) {
      return;
    }
    Truncated.Reason reason = Truncated.Reason.valueOf(frame.getReason().name());
    tell(entry.state.truncated(line, frame.getFrom(), frame.getTo(), reason));
  }

  /** Notes that the bus has accepted a consumer, and which journal it reads. */
  public void accepted(FeedLine line, Confirm confirm) {
    Entry entry = byId.get(confirm.getAbout());
    if (entry != null) {
      tell(entry.state.accepted(line, confirm.getTopic(), confirm.getCreation()));
    }
  }

  private void tell(@Nullable Truncated told) {
    if (told != null) {
      environment.notifier().tell(listener -> listener.truncated(told));
    }
  }

  /** Notes that a connection has ended. */
  public void lost(FeedLine line) {
    byId.values().forEach(entry -> entry.state.lost(line));
  }

  /**
   * Notes that the bus refuses a consumer, or has ended it. One that was accepted before asks again
   * where that can help. Returns true if the application waits for the answer.
   */
  public boolean refused(FeedLine line, Problem problem, EventBusException failure) {
    Subscriptions subscriptions = environment.subscriptions();
    if (problem.getCode() == ErrorCode.UNKNOWN_TYPE) {
      // The bus has no durable topics; the next one may have.
      subscriptions.postpone(DurableState.class, failure);
      return false;
    }
    Entry entry = byId.get(problem.getAbout());
    boolean asksAgain = problem.getRetryable() || problem.getCode() == ErrorCode.REPLACED;
    if (entry == null || !entry.state.isConfirmed() || !asksAgain) {
      return subscriptions.refused(problem.getAbout(), failure);
    }
    entry.state.lost(line);
    subscriptions.ended(entry.state);
    environment.conductor().schedule(() -> subscriptions.again(entry.state), RETRY_NANOS);
    return false;
  }

  /**
   * Stops all of them, as when the client is closed.
   *
   * @return a stage that completes when each has finished the event that it has, and the bus has
   *     been told, but for one whose handler has called this
   */
  public CompletableFuture<Void> stop() {
    List<CompletableFuture<Void>> ends = new ArrayList<>();
    for (Entry entry : byId.values()) {
      CompletableFuture<Void> end = entry.state.stop();
      if (!entry.runner.isRunByThisThread()) {
        ends.add(end);
      }
    }
    return CompletableFuture.allOf(ends.toArray(CompletableFuture<?>[]::new));
  }
}
