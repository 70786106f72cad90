package io.eventbus.registry;

/** There was no answer before the deadline. Retry with the same id. */
public final class RegistryTimeoutException extends RegistryException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the error.
   *
   * @param message what was waited for, and for how long
   * @param maybeApplied whether the command may have been applied, now or still to come
   */
  public RegistryTimeoutException(String message, boolean maybeApplied) {
    super(message, RetryAdvice.SAME_ID, maybeApplied);
  }
}
