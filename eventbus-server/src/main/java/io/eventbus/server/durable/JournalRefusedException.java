package io.eventbus.server.durable;

/** Refusal of what was asked of a journal, which changed nothing. */
public final class JournalRefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean unknown;

  /**
   * Creates a refusal.
   *
   * @param unknown whether there is no such journal
   */
  public JournalRefusedException(String message, boolean unknown) {
    // No stack trace: it is an answer, not a fault.
    super(message, null, false, false);
    this.unknown = unknown;
  }

  /** Returns whether there is no such journal. */
  public boolean isUnknown() {
    return unknown;
  }
}
