package io.eventbus.registry;

/**
 * Refusal of a command by the registry; the reason says whether to retry. It was not applied,
 * except that this is unknown for a command whose id is forgotten or from another registry.
 */
public final class CommandRefusedException extends RegistryException {
  private static final long serialVersionUID = 1L;

  /** Reason of the refusal. */
  private final RegistryRefusalReason reason;

  /**
   * Creates the error.
   *
   * @param refused the registry's answer
   */
  public CommandRefusedException(CommandResult.Refused refused) {
    super(
        refused.reason() + ": " + refused.message(),
        refused.reason().advice(),
        isUncertain(refused.reason()));
    this.reason = refused.reason();
  }

  private static boolean isUncertain(RegistryRefusalReason reason) {
    return reason == RegistryRefusalReason.ID_FORGOTTEN
        || reason == RegistryRefusalReason.ID_FROM_THE_FUTURE;
  }

  /**
   * Returns the reason.
   *
   * @return the reason
   */
  public RegistryRefusalReason reason() {
    return reason;
  }
}
