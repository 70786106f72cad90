package io.eventbus.server.security;

/**
 * Revocations in force. A caller has to check again when the list is another object. Any thread.
 */
public final class Revocations {
  private volatile RevocationList current = RevocationList.NONE;

  /** Creates an empty list. */
  public Revocations() {}

  /** Returns the list in force, another object after each change; one volatile read. */
  public RevocationList current() {
    return current;
  }

  /** Replaces the list. */
  public void replace(RevocationList next) {
    current = next;
  }
}
