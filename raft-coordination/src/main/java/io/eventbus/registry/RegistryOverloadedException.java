package io.eventbus.registry;

/**
 * Failure because too many commands are waiting on this bus. The command was not applied: retry
 * with the same id after a pause that grows.
 */
public final class RegistryOverloadedException extends RegistryException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the error.
   *
   * @param message the bound that was reached
   */
  public RegistryOverloadedException(String message) {
    super(message, RetryAdvice.SAME_ID, false);
  }
}
