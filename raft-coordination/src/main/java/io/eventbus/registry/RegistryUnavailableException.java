package io.eventbus.registry;

/**
 * Failure because the registry cannot accept commands now: it has not started, or there is no
 * leader or no majority. The command was not applied: retry with the same id after a pause that
 * grows.
 */
public final class RegistryUnavailableException extends RegistryException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the error.
   *
   * @param message the missing part
   */
  public RegistryUnavailableException(String message) {
    super(message, RetryAdvice.SAME_ID, false);
  }
}
