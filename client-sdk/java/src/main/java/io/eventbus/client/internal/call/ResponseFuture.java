package io.eventbus.client.internal.call;

import io.eventbus.client.EventBusException;
import io.eventbus.client.Response;
import java.util.concurrent.CompletableFuture;

/** Future that cancels its request when the application completes it before the answer comes. */
final class ResponseFuture extends CompletableFuture<Response> implements CallResult {
  private final CallHost host;
  private volatile Runnable abandon = () -> {};

  ResponseFuture(CallHost host) {
    this.host = host;
  }

  /** Sets the task that runs when the caller abandons the answer. */
  void onAbandon(Runnable task) {
    abandon = task;
  }

  @Override
  public void succeed(Response response) {
    host.complete(() -> super.complete(response));
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

  // A time-out of the application's own, for instance.
  @Override
  public boolean completeExceptionally(Throwable failure) {
    boolean completed = super.completeExceptionally(failure);
    abandon.run();
    return completed;
  }

  @Override
  public boolean complete(Response value) {
    boolean completed = super.complete(value);
    abandon.run();
    return completed;
  }

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    // A dependent stage is not a request.
    return new CompletableFuture<>();
  }
}
