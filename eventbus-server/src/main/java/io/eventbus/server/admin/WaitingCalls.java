package io.eventbus.server.admin;

import io.eventbus.base.StageFailures;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.registry.AdministrationRefusedException;
import io.eventbus.registry.RegistryTimeoutException;
import io.eventbus.server.durable.JournalRefusedException;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Requests that wait for the registry's leader, or for journals: at most {@value #MAX_CALLS}, so
 * that threads are left for everything else. Safe for use by several threads.
 */
final class WaitingCalls {
  static final int MAX_CALLS = 2;

  /** Deadline that is shorter than that of the answer. */
  static final Duration DEADLINE = Duration.ofSeconds(8);

  private final String whom;
  private final Semaphore permits = new Semaphore(MAX_CALLS);

  /**
   * Creates it without requests.
   *
   * @param whom they wait for, for people
   */
  WaitingCalls(String whom) {
    this.whom = whom;
  }

  /** Request that is answered later. */
  interface Call<T> {
    CompletionStage<T> begin() throws HttpFailure;
  }

  /** Waits for the answer; what is refused is told in its own words. */
  <T> T await(Call<T> call) throws HttpFailure {
    enter(permits, MAX_CALLS, whom);
    try {
      return call.begin()
          .toCompletableFuture()
          .get(DEADLINE.plusSeconds(1).toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HttpFailure(503, "STOPPING", "the bus stops");
    } catch (TimeoutException e) {
      throw new HttpFailure(504, "TIMEOUT", whom + " did not answer in time");
    } catch (ExecutionException e) {
      throw failure(cause(e));
    } finally {
      permits.release();
    }
  }

  static void enter(Semaphore permits, int max, String whom) throws HttpFailure {
    if (!permits.tryAcquire()) {
      throw new HttpFailure(
          503, "BUSY", "too many requests wait for " + whom + " (expected: " + max + ")");
    }
  }

  /** Returns the failure itself: a stage that was made of another one wraps it. */
  private static Throwable cause(ExecutionException e) {
    return StageFailures.unwrap(e.getCause() == null ? e : e.getCause());
  }

  private static HttpFailure failure(Throwable cause) {
    String message = String.valueOf(cause.getMessage());
    if (cause instanceof AdministrationRefusedException) {
      return new HttpFailure(409, "REFUSED", message);
    }
    if (cause instanceof JournalRefusedException refused) {
      return refused.isUnknown()
          ? new HttpFailure(404, "NOT_FOUND", message)
          : new HttpFailure(409, "REFUSED", message);
    }
    return cause instanceof RegistryTimeoutException
            || cause instanceof JournalsUnavailableException
        ? new HttpFailure(504, "TIMEOUT", message)
        : new HttpFailure(503, "UNAVAILABLE", message);
  }
}
