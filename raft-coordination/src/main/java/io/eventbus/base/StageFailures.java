package io.eventbus.base;

import java.util.concurrent.CompletionException;

/** Failures of stages, which are wrapped by each stage that was made of another one. */
public final class StageFailures {
  private StageFailures() {}

  /** Returns the failure itself. */
  public static Throwable unwrap(Throwable error) {
    return error instanceof CompletionException && error.getCause() != null
        ? unwrap(error.getCause())
        : error;
  }
}
