package io.eventbus.server.security;

import io.eventbus.base.PrintableText;

/**
 * Refused credentials, for operators. Never shown to clients, and without secrets.
 *
 * @param reason what was wrong, as it goes on after "a client"
 * @param account of the client; empty if it is not known, or for none
 * @param subject its name in the account; empty if it is not known. Only a name that is known
 *     already, or that a signature vouches for: people type passwords in place of names
 */
public record FailedLogin(String reason, String account, String subject) {
  /** Maximum of characters of a name that a line shows. */
  private static final int MAX_SHOWN = 256;

  /** Creates the failure of a client whose name is not known. */
  public FailedLogin(String reason) {
    this(reason, "", "");
  }

  /**
   * Returns what was wrong, and whose credentials they are, in one line that goes on after "a
   * client".
   */
  public String text() {
    if (subject.isEmpty()) {
      return reason;
    }
    return reason
        + " ('"
        + PrintableText.of(subject, MAX_SHOWN)
        + "'"
        + (account.isEmpty() ? "" : " of account '" + PrintableText.of(account, MAX_SHOWN) + "'")
        + ")";
  }
}
