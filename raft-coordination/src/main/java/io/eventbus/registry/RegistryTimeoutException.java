package io.eventbus.registry;

/** Failure because there was no answer before the deadline. Retry with the same id. */
public final class RegistryTimeoutException extends RegistryException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the error.
   *
   * @param message the awaited result, and the deadline
   * @param maybeApplied whether the command may have been applied, now or still to come
   */
  public RegistryTimeoutException(String message, boolean maybeApplied) {
    super(message, RetryAdvice.SAME_ID, maybeApplied);
  }
}
