package io.eventbus.client.internal.inbound;

import io.eventbus.client.EventBusException;
import io.eventbus.client.EventHandler;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import io.eventbus.client.StreamHandler;
import io.eventbus.client.TunnelHandler;
import io.eventbus.client.TunnelOptions;
import io.eventbus.client.internal.base.Nanos;
import io.eventbus.client.internal.base.Notifier;
import io.eventbus.client.internal.base.Scheduler;
import io.eventbus.client.internal.call.ServiceRunner;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Capacity;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Register;
import io.eventbus.schema.Unregister;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Service of this client: what the bus was told of it. Any thread may use it. */
public final class ServiceState implements Service, Registration {
  private final long id;
  private final String name;
  private final ServiceOptions options;
  private final ServiceRunner runner;
  private final SubscriptionState broadcasts;
  private final Environment environment;
  private final CompletableFuture<Service> ready = new CompletableFuture<>();
  private final CompletableFuture<Boolean> closed = new CompletableFuture<>();
  private volatile boolean awaited;
  private volatile boolean confirmed;
  private volatile boolean paused;
  private volatile boolean handlesBroadcasts;

  /** Environment of a service. */
  public record Environment(
      Subscriptions subscriptions,
      io.eventbus.client.internal.call.CallTable calls,
      Notifier notifier,
      Scheduler conductor,
      PushConsumer.Environment consumers) {}

  public ServiceState(
      long id,
      String name,
      ServiceOptions options,
      ServiceRunner runner,
      SubscriptionState broadcasts,
      Environment environment) {
    this.broadcasts = broadcasts;
    this.id = id;
    this.name = name;
    this.options = options;
    this.runner = runner;
    this.environment = environment;
  }

  // ---- For the application

  @Override
  public String name() {
    return name;
  }

  @Override
  public ServiceOptions options() {
    return options;
  }

  @Override
  public CompletionStage<Service> ready() {
    awaited = true;
    return ready;
  }

  @Override
  public Service onBroadcast(EventHandler handler) {
    Objects.requireNonNull(handler, "handler");
    synchronized (this) {
      if (handlesBroadcasts) {
        throw new IllegalStateException(
            "what is broadcast to " + name + " has a handler already (expected: one)");
      }
      PushConsumer consumer = new PushConsumer(broadcasts, handler, environment.consumers());
      broadcasts.onArrival(consumer::wake);
      handlesBroadcasts = true;
    }
    environment.subscriptions().receivesMore();
    return this;
  }

  @Override
  public void pause() {
    setPaused(true);
  }

  @Override
  public void resume() {
    setPaused(false);
  }

  @Override
  public void onTunnel(TunnelOptions how, TunnelHandler handler) {
    runner.tunnels().onTunnel(how, Objects.requireNonNull(handler, "handler"));
  }

  @Override
  public void onStream(StreamHandler handler) {
    runner.tunnels().onStream(Objects.requireNonNull(handler, "handler"));
  }

  private synchronized void setPaused(boolean pause) {
    if (paused != pause) {
      paused = pause;
      environment
          .subscriptions()
          .tell(this, ControlFrames.encode(TypeCode.CAPACITY, new Capacity(id, concurrencyNow())));
    }
  }

  private int concurrencyNow() {
    return paused ? 0 : options.concurrency();
  }

  @Override
  public Stats stats() {
    return runner.stats();
  }

  @Override
  public CompletionStage<Boolean> close(Duration timeout) {
    return closing(Nanos.of(timeout));
  }

  public boolean isHandledByThisThread() {
    return runner.isHandledByThisThread() || broadcasts.isHandledByThisThread();
  }

  /** Returns the sink of broadcast events; null if nothing handles them. */
  @Nullable SubscriptionState broadcasts() {
    return handlesBroadcasts ? broadcasts : null;
  }

  /** Ends the service; the stage is that of {@link #close}. */
  public CompletableFuture<Boolean> closing(long timeoutNanos) {
    environment.subscriptions().unsubscribe(this);
    if (!closed.isDone()) {
      Scheduler.Timer timer = environment.conductor().schedule(this::abandon, timeoutNanos);
      CompletableFuture<Boolean> unused = closed.whenComplete((drained, failure) -> timer.cancel());
    }
    return closed;
  }

  // ---- For the connection

  @Override
  public long id() {
    return id;
  }

  @Override
  public byte[] beginFrame() {
    return ControlFrames.encode(
        TypeCode.REGISTER,
        new Register(
            id,
            name,
            concurrencyNow(),
            options.identify(),
            options.version(),
            options.metadata(),
            Overflow.valueOf(options.overflow().name())));
  }

  @Override
  public byte[] endFrame() {
    return ControlFrames.encode(TypeCode.UNREGISTER, new Unregister(id));
  }

  @Override
  public boolean isExclusive() {
    return true;
  }

  @Override
  public boolean isConfirmed() {
    return confirmed;
  }

  @Override
  public void confirm() {
    confirmed = true;
    broadcasts.confirm();
  }

  @Override
  public @Nullable SubscriptionState events() {
    return broadcasts();
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
    broadcasts.discard();
  }

  @Override
  public void end() {
    environment.calls().forget(id);
    broadcasts.end();
    runner.end(() -> runner.tunnels().end(this::endWithBroadcasts));
  }

  private void endWithBroadcasts() {
    CompletableFuture<Void> handled =
        handlesBroadcasts ? broadcasts.finished() : CompletableFuture.completedFuture(null);
    CompletableFuture<Void> unused =
        handled.thenRun(() -> environment.notifier().complete(() -> closed.complete(true)));
  }

  @Override
  public void abandon() {
    broadcasts.discard();
    runner.abandon();
    runner.tunnels().abandon();
    environment.notifier().complete(() -> closed.complete(false));
  }
}
