package io.eventbus.registry;

/**
 * Failure because the registry was closed on this bus. Do not retry here: the bus is shutting down.
 */
public final class RegistryClosedException extends RegistryException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the error.
   *
   * @param message what was refused
   * @param maybeApplied whether the command may have been applied
   */
  public RegistryClosedException(String message, boolean maybeApplied) {
    super(message, RetryAdvice.NEVER, maybeApplied);
  }
}
