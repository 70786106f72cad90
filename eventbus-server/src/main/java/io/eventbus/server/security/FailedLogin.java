package io.eventbus.server.security;

import io.eventbus.server.log.PrintableText;

/**
 * Credentials that were refused, for operators. Never shown to clients, and without secrets.
 *
 * @param reason what was wrong, as it goes on after "a client"
 * @param account whose client they would have proved; empty where it is not known, or for none
 * @param subject its name in the account; empty where it is not known. Only a name that is known
 *     already, or that a signature vouches for: people type passwords in place of names
 */
public record FailedLogin(String reason, String account, String subject) {
  /** The most characters of a name that are shown in a line. */
  private static final int MAX_SHOWN = 256;

  /** Makes one of a client whose name is not known. */
  public FailedLogin(String reason) {
    this(reason, "", "");
  }

  /**
   * Returns what was wrong, and whose credentials they are, in one line.
   *
   * @return goes on after "a client"
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
