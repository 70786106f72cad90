package io.eventbus.registry;

/**
 * Too many commands are waiting on this bus. The command was not applied: retry with the same id
 * after a pause that grows.
 */
public final class RegistryOverloadedException extends RegistryException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the error.
   *
   * @param message which bound was met
   */
  public RegistryOverloadedException(String message) {
    super(message, RetryAdvice.SAME_ID, false);
  }
}
