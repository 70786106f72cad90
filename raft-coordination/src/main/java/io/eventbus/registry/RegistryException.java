package io.eventbus.registry;

/**
 * A command or a read got no answer from the registry, or not the one that was expected.
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

  /** What to do next. */
  private final RetryAdvice advice;

  /** Whether the command may have been applied. */
  private final boolean maybeApplied;

  RegistryException(String message, RetryAdvice advice, boolean maybeApplied) {
    super(message);
    this.advice = advice;
    this.maybeApplied = maybeApplied;
  }

  /**
   * Says whether to retry, and how.
   *
   * @return the advice
   */
  public final RetryAdvice advice() {
    return advice;
  }

  /**
   * Says whether the command may have been applied, now or still to come.
   *
   * @return false if it certainly was not and will not be
   */
  public final boolean maybeApplied() {
    return maybeApplied;
  }
}
