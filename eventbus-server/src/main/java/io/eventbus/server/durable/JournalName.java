package io.eventbus.server.durable;

import io.eventbus.journal.JournalNames;

/**
 * Name of a journal, unique in its account.
 *
 * @param account empty for the default account
 */
public record JournalName(String account, String name) implements Comparable<JournalName> {
  /** Maximum size of a name, in bytes of UTF-8; the shard's name also holds the account. */
  public static final int MAX_BYTES = 63;

  // No account holds it.
  private static final char SEPARATOR = '/';

  /**
   * Checks the name.
   *
   * @throws IllegalArgumentException if it is illegal, saying why
   */
  public JournalName {
    String problem = JournalNames.problem(name);
    if (problem != null) {
      throw new IllegalArgumentException("journal: " + problem);
    }
    if (name.indexOf(SEPARATOR) >= 0) {
      throw new IllegalArgumentException("journal: a name with / (expected: one without)");
    }
    if (JournalNames.problem(name + "x".repeat(JournalNames.MAX_BYTES - MAX_BYTES)) != null) {
      throw new IllegalArgumentException(
          "journal: a name of more than " + MAX_BYTES + " bytes of UTF-8 (expected: at most that)");
    }
    if (!account.isEmpty() && JournalNames.problem(account + SEPARATOR + name) != null) {
      throw new IllegalArgumentException(
          "account: its name cannot be that of a journal's owner (expected: at most 64 characters"
              + " in at most 16 parts between dots, none empty)");
    }
  }

  /** Returns the name that {@link #inShard} has made. */
  public static JournalName of(String inShard) {
    int separator = inShard.indexOf(SEPARATOR);
    return separator < 0
        ? new JournalName("", inShard)
        : new JournalName(inShard.substring(0, separator), inShard.substring(separator + 1));
  }

  /** Returns the name that no journal of another account has. */
  String inShard() {
    return account.isEmpty() ? name : account + SEPARATOR + name;
  }

  @Override
  public int compareTo(JournalName other) {
    int order = account.compareTo(other.account);
    return order != 0 ? order : name.compareTo(other.name);
  }
}
