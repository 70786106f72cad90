package io.eventbus.client.internal;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import io.eventbus.client.StreamHandler;
import io.eventbus.client.TunnelHandler;
import io.eventbus.client.TunnelOptions;
import io.eventbus.client.internal.call.ServiceRunner;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Capacity;
import io.eventbus.schema.Register;
import io.eventbus.schema.Unregister;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A service of this client: what the bus was told of it. Any thread may use it. */
final class ServiceState implements Service, Registration {
  private final long id;
  private final String name;
  private final ServiceOptions options;
  private final ServiceRunner runner;
  private final Environment environment;
  private final CompletableFuture<Service> ready = new CompletableFuture<>();
  private final CompletableFuture<Boolean> closed = new CompletableFuture<>();
  private volatile boolean confirmed;
  private volatile boolean paused;

  /** What a service needs around it. */
  record Environment(
      Subscriptions subscriptions,
      io.eventbus.client.internal.call.Calls calls,
      Notifier notifier,
      Scheduler conductor) {}

  ServiceState(
      long id, String name, ServiceOptions options, ServiceRunner runner, Environment environment) {
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
    return ready;
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

  boolean isHandledByThisThread() {
    return runner.isHandledByThisThread();
  }

  /** Ends the service; the stage is that of {@link #close}. */
  CompletableFuture<Boolean> closing(long patienceNanos) {
    environment.subscriptions().unsubscribe(this);
    if (!closed.isDone()) {
      Scheduler.Timer timer = environment.conductor().schedule(this::abandon, patienceNanos);
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
            id, name, concurrencyNow(), options.identify(), options.version(), options.metadata()));
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
  public void end() {
    environment.calls().forget(id);
    runner.end(
        () ->
            runner
                .tunnels()
                .end(() -> environment.notifier().complete(() -> closed.complete(true))));
  }

  @Override
  public void abandon() {
    runner.abandon();
    runner.tunnels().abandon();
    environment.notifier().complete(() -> closed.complete(false));
  }
}
