package io.eventbus.registry.ratis.forward;

import io.eventbus.base.Backoff;
import io.eventbus.link.LinkException;
import io.eventbus.link.LinkServiceException;
import io.eventbus.registry.RegistryClosedException;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryOverloadedException;
import io.eventbus.registry.RegistryTimeoutException;
import io.eventbus.registry.RegistryUnavailableException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.ratis.protocol.exceptions.LeaderNotReadyException;
import org.jspecify.annotations.Nullable;

/**
 * Retry of one command or read at the leader, wherever that is, until the deadline.
 *
 * <p>To repeat is safe: a command keeps its id. The pauses grow from 5 to 100 milliseconds.
 */
public final class LeaderRetry<T> {
  /**
   * Single attempt. Its failure may show that nothing was applied; see {@link
   * #isCertainlyNotApplied}.
   */
  public interface Attempt<T> {
    /** Tries once, for the rest of the time. */
    CompletableFuture<T> run(Duration left);
  }

  private static final Duration MIN_PAUSE = Duration.ofMillis(5);
  private static final Duration MAX_PAUSE = Duration.ofMillis(100);

  private final Attempt<T> attempt;
  private final ScheduledExecutorService timers;
  private final Duration deadline;
  private final long start = System.nanoTime();
  private final Supplier<String> situation;
  private final CompletableFuture<T> answer = new CompletableFuture<>();

  /** Used by the attempts, one after the other. */
  private final Backoff backoff = new Backoff(MIN_PAUSE, MAX_PAUSE, 1);

  /** Set if an earlier attempt may have been carried out. */
  private volatile boolean uncertain;

  private volatile String lastError = "";

  private LeaderRetry(
      Attempt<T> attempt,
      ScheduledExecutorService timers,
      Duration deadline,
      Supplier<String> situation) {
    this.attempt = attempt;
    this.timers = timers;
    this.deadline = deadline;
    this.situation = situation;
  }

  /** Begins; the future completes by the deadline. */
  public static <T> CompletableFuture<T> start(
      Attempt<T> attempt,
      ScheduledExecutorService timers,
      Duration deadline,
      Supplier<String> situation,
      Set<LeaderRetry<?>> open) {
    LeaderRetry<T> retry = new LeaderRetry<>(attempt, timers, deadline, situation);
    open.add(retry);
    var unused = retry.answer.whenComplete((result, error) -> open.remove(retry));
    try {
      Future<?> timer = timers.schedule(retry::expire, deadline.toNanos(), TimeUnit.NANOSECONDS);
      unused = retry.answer.whenComplete((result, error) -> timer.cancel(false));
      retry.run();
    } catch (RejectedExecutionException e) {
      retry.close();
    }
    return retry.answer;
  }

  private void run() {
    Duration left = deadline.minusNanos(System.nanoTime() - start);
    if (answer.isDone() || left.isNegative() || left.isZero()) {
      return;
    }
    // Until it fails, the result is unknown.
    boolean before = uncertain;
    uncertain = true;
    CompletableFuture<T> tried;
    try {
      tried = attempt.run(left);
    } catch (RuntimeException e) {
      tried = CompletableFuture.failedFuture(e);
    }
    var unused =
        tried.whenComplete(
            (result, error) -> {
              if (error == null) {
                answer.complete(result);
              } else {
                failed(before, unwrap(error));
              }
            });
  }

  private void failed(boolean uncertainBefore, Throwable error) {
    if (isCertainlyNotApplied(error)) {
      uncertain = uncertainBefore;
    }
    boolean overloaded = error instanceof RegistryOverloadedException;
    if (error instanceof RegistryException known && (!overloaded || !uncertain)) {
      if (!(known instanceof RegistryUnavailableException)) {
        answer.completeExceptionally(known);
        return;
      }
    }
    lastError = String.valueOf(error.getMessage());
    long pause = backoff.nextNanos(ThreadLocalRandom.current());
    try {
      Future<?> unused = timers.schedule(this::run, pause, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      close();
    }
  }

  /** Ends it, because the registry of this bus closes. */
  public void close() {
    answer.completeExceptionally(
        new RegistryClosedException("the registry was closed before the answer came", uncertain));
  }

  private void expire() {
    String error = lastError;
    String message =
        "no answer within "
            + deadline
            + ": "
            + situation.get()
            + (error.isEmpty() ? "" : "; last error: " + error);
    answer.completeExceptionally(
        uncertain
            ? new RegistryTimeoutException(message, true)
            : new RegistryUnavailableException(message));
  }

  static boolean isCertainlyNotApplied(Throwable error) {
    if (error instanceof RegistryException known) {
      return !known.maybeApplied();
    }
    if (error instanceof LinkException link) {
      return !link.wasSent();
    }
    if (error instanceof LinkServiceException service) {
      return !service.code().equals(CommandService.UNCERTAIN)
          && !service.code().equals(LinkServiceException.INTERNAL);
    }
    // Ratis says that it has no room also of an entry that is in its log already.
    return error instanceof LeaderNotReadyException;
  }

  /** Returns the root failure of a stage. */
  public static Throwable unwrap(@Nullable Throwable error) {
    Throwable cause = error;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause == null ? new IllegalStateException("no error") : cause;
  }
}
