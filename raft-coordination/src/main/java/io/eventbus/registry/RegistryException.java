package io.eventbus.registry;

/**
 * Failure of a command or a read: no answer from the registry, or not the expected one.
 *
 * <p>Each error says what to do next and whether the command may have been applied.
 */
public abstract sealed class RegistryException extends RuntimeException
    permits AdministrationRefusedException,
        CommandRefusedException,
        RegistryClosedException,
        RegistryFailedException,
        RegistryOverloadedException,
        RegistryTimeoutException,
        RegistryUnavailableException {
  private static final long serialVersionUID = 1L;

  /** Advice what to do next. */
  private final RetryAdvice advice;

  private final boolean maybeApplied;

  RegistryException(String message, RetryAdvice advice, boolean maybeApplied) {
    super(message);
    this.advice = advice;
    this.maybeApplied = maybeApplied;
  }

  /**
   * Returns whether to retry, and how.
   *
   * @return the advice
   */
  public final RetryAdvice advice() {
    return advice;
  }

  /**
   * Returns whether the command may have been applied, now or still to come.
   *
   * @return false if it certainly was not and will not be
   */
  public final boolean maybeApplied() {
    return maybeApplied;
  }
}
