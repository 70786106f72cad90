package io.eventbus.server.admin;

import io.eventbus.registry.AdministrationRefusedException;
import io.eventbus.registry.RegistryTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Requests that wait for the registry's leader: at most {@value #MAX_CALLS}, so that threads are
 * left for everything else. Safe for use by several threads.
 */
final class RegistryCalls {
  static final int MAX_CALLS = 2;

  /** Deadline that is shorter than that of the answer. */
  static final Duration DEADLINE = Duration.ofSeconds(8);

  private final Semaphore permits = new Semaphore(MAX_CALLS);

  /** Request to the registry. */
  interface Call<T> {
    CompletionStage<T> begin() throws HttpFailure;
  }

  /** Waits for the registry; what it refuses is told in its own words. */
  <T> T await(Call<T> call) throws HttpFailure {
    enter(permits, MAX_CALLS);
    try {
      return call.begin()
          .toCompletableFuture()
          .get(DEADLINE.plusSeconds(1).toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HttpFailure(503, "STOPPING", "the bus stops");
    } catch (TimeoutException e) {
      throw new HttpFailure(504, "TIMEOUT", "the registry did not answer in time");
    } catch (ExecutionException e) {
      throw failure(e.getCause() == null ? e : e.getCause());
    } finally {
      permits.release();
    }
  }

  static void enter(Semaphore permits, int max) throws HttpFailure {
    if (!permits.tryAcquire()) {
      throw new HttpFailure(
          503, "BUSY", "too many requests wait for the registry (expected: " + max + ")");
    }
  }

  private static HttpFailure failure(Throwable cause) {
    String message = String.valueOf(cause.getMessage());
    if (cause instanceof AdministrationRefusedException) {
      return new HttpFailure(409, "REFUSED", message);
    }
    return cause instanceof RegistryTimeoutException
        ? new HttpFailure(504, "TIMEOUT", message)
        : new HttpFailure(503, "UNAVAILABLE", message);
  }
}
