package io.eventbus.registry;

/**
 * Refusal of an operation of {@link RegistryAdministration}; the message says why and what would
 * have to change. Nothing was done.
 */
public final class AdministrationRefusedException extends RegistryException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the error.
   *
   * @param message the reason, for people
   */
  public AdministrationRefusedException(String message) {
    super(message, RetryAdvice.NEVER, false);
  }
}
