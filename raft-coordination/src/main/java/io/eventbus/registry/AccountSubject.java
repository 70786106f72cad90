package io.eventbus.registry;

/**
 * Authenticated name of a client: the subject of an account.
 *
 * @param account the client's account, up to 768 bytes; empty for the account of all that have none
 * @param subject its name in the account: 1 to 768 bytes
 */
public record AccountSubject(String account, String subject) implements Comparable<AccountSubject> {
  /** Maximum size of a name: 256 characters, which is the most that an identity has, in UTF-8. */
  private static final int MAX_BYTES = 768;

  /**
   * Checks the names.
   *
   * @param account as above
   * @param subject as above
   * @throws IllegalArgumentException if one is illegal, saying which and why
   */
  public AccountSubject {
    RegistryChecks.text("account", account, 0, MAX_BYTES);
    RegistryChecks.text("subject", subject, 1, MAX_BYTES);
  }

  @Override
  public int compareTo(AccountSubject other) {
    int order = account.compareTo(other.account);
    return order == 0 ? subject.compareTo(other.subject) : order;
  }

  int estimatedBytes() {
    return 256 + 2 * (account.length() + subject.length());
  }

  /** Returns a text for people, for example {@code 'u1' of account 'acme'}. */
  @Override
  public String toString() {
    return RegistryChecks.quote(subject)
        + (account.isEmpty() ? "" : " of account " + RegistryChecks.quote(account));
  }
}
