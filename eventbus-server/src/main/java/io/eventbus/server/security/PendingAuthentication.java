package io.eventbus.server.security;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Pending authentication of one client. Confined to the loop of its connection. */
public final class PendingAuthentication {
  private final CompletableFuture<Authentication> asked;
  // Completed by the authenticator; never fails.
  private final CompletableFuture<Authentication> answered;
  private final long beganNanos;

  PendingAuthentication(
      CompletableFuture<Authentication> asked,
      CompletableFuture<Authentication> answered,
      long beganNanos) {
    this.asked = asked;
    this.answered = answered;
    this.beganNanos = beganNanos;
  }

  /** Returns the answer; null as long as there is none. */
  public @Nullable Authentication answer() {
    return answered.getNow(null);
  }

  /**
   * Calls back when there is an answer.
   *
   * @param task called once by any thread, also by this one; not after {@link #abandon}
   */
  // A task that fails is the caller's.
  @SuppressWarnings("FutureReturnValueIgnored")
  public void whenAnswered(Runnable task) {
    answered.thenRun(
        () -> {
          if (!asked.isCancelled()) {
            task.run();
          }
        });
  }

  /**
   * Ends the authentication when it has lasted for too long.
   *
   * @param nowNanos as {@link System#nanoTime}
   */
  public void onTick(long nowNanos) {
    if (!asked.isDone() && nowNanos - beganNanos > Authentications.MAX_WAIT.toNanos()) {
      asked.complete(Authentications.late());
    }
  }

  /** Ends the waiting because the client has gone. */
  public void abandon() {
    asked.cancel(false);
  }
}
