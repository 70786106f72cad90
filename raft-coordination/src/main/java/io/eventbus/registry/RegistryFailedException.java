package io.eventbus.registry;

/**
 * Failure because the registry of this bus has stopped on an error of its own. Do not retry here:
 * the bus has to be restarted; its log says why.
 */
public final class RegistryFailedException extends RegistryException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the error.
   *
   * @param message the part that failed
   * @param maybeApplied whether the command may have been applied
   */
  public RegistryFailedException(String message, boolean maybeApplied) {
    super(message, RetryAdvice.NEVER, maybeApplied);
  }
}
