package io.eventbus.client.internal.durable;

import io.eventbus.client.DurableBuilder;
import io.eventbus.client.DurableHandler;
import io.eventbus.client.DurableSubscription;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Truncated;
import io.eventbus.client.WorkHandler;
import io.eventbus.client.Worker;
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
  private final Map<Long, FedConsumer<?>> byId;
  private final FeedView feed = new FeedView();
  private final DeliverView deliver = new DeliverView();

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
    return new DurableRequest(
        name,
        new DurableRequest.Begin() {
          @Override
          public DurableSubscription durable(
              DurableState.Settings settings, DurableHandler handler) {
            return begin(new DurableState(takeId(), settings, handler, environment), begin);
          }

          @Override
          public Worker worker(WorkerState.Settings settings, WorkHandler handler) {
            return begin(new WorkerState(takeId(), settings, handler, environment), begin);
          }
        });
  }

  private long takeId() {
    return environment.subscriptions().takeId();
  }

  private <T> T begin(FedConsumer<T> consumer, Consumer<Registration> begin) {
    byId.put(consumer.id(), consumer);
    try {
      begin.accept(consumer);
    } catch (EventBusException e) {
      byId.remove(consumer.id());
      throw e;
    }
    return consumer.view();
  }

  /**
   * Takes a {@code Feed}.
   *
   * @param frameBytes bytes of the whole frame
   * @throws io.eventbus.protocol.MalformedFrameException if it is malformed
   */
  public void feed(FeedLine line, ByteBuffer message, int from, int to, int frameBytes) {
    feed.read(message, from, to);
    FedConsumer<?> consumer = byId.get(feed.id());
    if (consumer == null) {
      // Under way when the consumer ended.
      return;
    }
    int again =
        FedEvents.check(deliver, message, feed.framesStart(), feed.framesEnd(), consumer.covered());
    environment.counters().duplicates.add(again);
    consumer.fed(line, feed, message, again, frameBytes);
  }

  /** Takes a {@code Truncated}. */
  public void truncated(FeedLine line, ByteBuffer message, int from, int to) {
    io.eventbus.schema.Truncated frame = DurableFrames.truncated(message, from, to);
    FedConsumer<?> consumer = byId.get(frame.getId());
    if (consumer == null) {
      return;
    }
    Truncated.Reason reason = Truncated.Reason.valueOf(frame.getReason().name());
    tell(consumer.truncated(line, frame.getFrom(), frame.getTo(), reason));
  }

  /** Notes that the bus has accepted a consumer, and which journal it reads. */
  public void accepted(FeedLine line, Confirm confirm) {
    FedConsumer<?> consumer = byId.get(confirm.getAbout());
    if (consumer != null) {
      tell(consumer.accepted(line, confirm.getTopic(), confirm.getCreation()));
    }
  }

  private void tell(@Nullable Truncated told) {
    if (told != null) {
      environment.notifier().tell(listener -> listener.truncated(told));
    }
  }

  /** Notes that a connection has ended. */
  public void lost(FeedLine line) {
    byId.values().forEach(consumer -> consumer.lost(line));
  }

  /** Notes that the client is about to leave the bus of a connection. */
  public void leave(FeedLine line) {
    byId.values().forEach(consumer -> consumer.leave(line));
  }

  /** Notes that the bus has stored a settlement. */
  public void settled(FeedLine line, Confirm confirm) {
    FedConsumer<?> consumer = byId.get(confirm.getAbout());
    if (consumer != null) {
      consumer.settled(line, confirm.getPosition());
    }
  }

  /** Notes that the bus has refused a settlement; returns whether the application is told. */
  public boolean settleRefused(FeedLine line, Problem problem, EventBusException failure) {
    FedConsumer<?> consumer = byId.get(problem.getAbout());
    return consumer != null && consumer.settleRefused(line, failure);
  }

  /**
   * Notes that the bus refuses a consumer, or has ended it. One that was accepted before asks again
   * where that can help. Returns true if the application waits for the answer.
   */
  public boolean refused(FeedLine line, Problem problem, EventBusException failure) {
    Subscriptions subscriptions = environment.subscriptions();
    if (problem.getCode() == ErrorCode.UNKNOWN_TYPE) {
      // The bus has no durable topics; the next one may have.
      subscriptions.postpone(FedConsumer.class, failure);
      return false;
    }
    FedConsumer<?> consumer = byId.get(problem.getAbout());
    boolean asksAgain = problem.getRetryable() || problem.getCode() == ErrorCode.REPLACED;
    if (consumer == null || !consumer.isConfirmed() || !asksAgain) {
      return subscriptions.refused(problem.getAbout(), failure);
    }
    consumer.lost(line);
    subscriptions.ended(consumer);
    environment.conductor().schedule(() -> subscriptions.again(consumer), RETRY_NANOS);
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
    for (FedConsumer<?> consumer : byId.values()) {
      CompletableFuture<Void> end = consumer.stop();
      if (!consumer.isHandledByThisThread()) {
        ends.add(end);
      }
    }
    return CompletableFuture.allOf(ends.toArray(CompletableFuture<?>[]::new));
  }
}
