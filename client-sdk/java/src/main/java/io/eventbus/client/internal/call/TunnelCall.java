package io.eventbus.client.internal.call;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Response;
import io.eventbus.client.Tunnel;
import io.eventbus.client.TunnelOptions;
import java.util.concurrent.CompletableFuture;

/** Tunnel that this client has asked for, until a member has accepted it. */
final class TunnelCall extends CompletableFuture<Tunnel> implements CallResult {
  private final CallHost host;
  private final Tunnels tunnels;
  private final String service;
  private final TunnelOptions options;
  private volatile Runnable abandon = () -> {};

  TunnelCall(CallHost host, Tunnels tunnels, String service, TunnelOptions options) {
    this.host = host;
    this.tunnels = tunnels;
    this.service = service;
    this.options = options;
  }

  /** Sets the task that runs when nobody waits for it any more. */
  void onAbandon(Runnable task) {
    abandon = task;
  }

  @Override
  public void accept(long call, CallPath over, Response response, long limit) {
    OpenTunnel tunnel =
        new OpenTunnel(
            host,
            tunnels,
            new ReceivedInvocation.Target(over, call),
            service,
            response.event(),
            options,
            limit);
    tunnels.add(tunnel);
    host.complete(
        () -> {
          if (!super.complete(tunnel)) {
            tunnel.close();
          }
        });
  }

  @Override
  public void succeed(Response response) {
    throw new IllegalStateException("a tunnel with one reply (expected: accept)");
  }

  @Override
  public void fail(EventBusException failure) {
    host.fail(() -> super.completeExceptionally(failure));
  }

  @Override
  public boolean cancel(boolean mayInterrupt) {
    boolean cancelled = super.cancel(mayInterrupt);
    abandon.run();
    return cancelled;
  }

  @Override
  public boolean completeExceptionally(Throwable failure) {
    boolean completed = super.completeExceptionally(failure);
    abandon.run();
    return completed;
  }

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    // A dependent stage is not a tunnel.
    return new CompletableFuture<>();
  }
}
