package io.eventbus.registry;

/**
 * An operation of {@link RegistryAdministration} was refused; the message says why and what would
 * have to change. Nothing was done.
 */
public final class AdministrationRefusedException extends RegistryException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes the error.
   *
   * @param message why, for people
   */
  public AdministrationRefusedException(String message) {
    super(message, RetryAdvice.NEVER, false);
  }
}
