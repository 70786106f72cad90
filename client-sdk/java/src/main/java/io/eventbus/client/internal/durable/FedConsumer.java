package io.eventbus.client.internal.durable;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Truncated;
import io.eventbus.client.internal.inbound.Registration;
import io.eventbus.client.internal.inbound.SubscriptionState;
import io.eventbus.protocol.FeedView;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Consumer as connections see it: takes what a bus says to it. Any thread may use it.
 *
 * @param <T> what the application sees of it
 */
abstract class FedConsumer<T> implements Registration {
  final DurableConsumers.Environment environment;
  private final long id;
  private final CompletableFuture<T> ready = new CompletableFuture<>();
  private final CompletableFuture<Void> finished = new CompletableFuture<>();
  private volatile boolean confirmed;
  private volatile boolean awaited;

  FedConsumer(long id, DurableConsumers.Environment environment) {
    this.id = id;
    this.environment = environment;
  }

  // ---- What the bus says

  /** Returns the position up to which all events came before; 0 for none. */
  abstract long covered();

  /**
   * Takes a {@code Feed} whose frames were checked.
   *
   * @param repeated how many events of it came before
   * @param bytes of the whole frame
   */
  abstract void fed(FeedLine line, FeedView feed, ByteBuffer message, int repeated, int bytes);

  /** Takes a {@code Truncated}; returns what is new of it, or null. */
  abstract @Nullable Truncated truncated(
      FeedLine line, long from, long to, Truncated.Reason reason);

  /**
   * Notes that the bus has accepted it, and the journal that the bus has found. Returns what the
   * consumer does not get because its journal was deleted, or null.
   *
   * @param created which creation of the journal; 0 if the bus does not tell
   */
  abstract @Nullable Truncated accepted(FeedLine line, String found, long created);

  /** Notes that it has ended at the bus, or its connection has. */
  abstract void lost(FeedLine line);

  /** Notes that the client is about to leave the bus of a connection. */
  abstract void leave(FeedLine line);

  /** Notes that the bus has stored a settlement. */
  abstract void settled(FeedLine line, long upTo);

  /** Notes that the bus has refused a settlement; returns whether the application is told. */
  abstract boolean settleRefused(FeedLine line, EventBusException failure);

  // ---- The end

  /** Stops it; the stage completes when the handler has stopped, and the bus has been told. */
  abstract CompletableFuture<Void> stop();

  abstract boolean isHandledByThisThread();

  final CompletableFuture<Void> finished() {
    return finished;
  }

  /** Completes the stage of the end. */
  final void finish() {
    environment.notifier().complete(() -> finished.complete(null));
  }

  // ---- As a registration

  /** Returns what the application sees of it. */
  abstract T view();

  /** Returns the stage of its confirmation, which the application waits for from now on. */
  final CompletableFuture<T> awaitReady() {
    awaited = true;
    return ready;
  }

  @Override
  public final long id() {
    return id;
  }

  @Override
  public final boolean isConfirmed() {
    return confirmed;
  }

  @Override
  public final void confirm() {
    confirmed = true;
  }

  @Override
  public final @Nullable SubscriptionState events() {
    return null;
  }

  @Override
  public final void completeReady() {
    ready.complete(view());
  }

  @Override
  public final void failReady(EventBusException failure) {
    ready.completeExceptionally(failure);
  }

  @Override
  public final boolean isAwaited() {
    return awaited;
  }

  @Override
  public final void discard() {
    end();
  }

  @Override
  public final void abandon() {
    end();
  }
}
