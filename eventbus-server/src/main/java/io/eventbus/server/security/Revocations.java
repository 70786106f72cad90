package io.eventbus.server.security;

/**
 * What is revoked now. Whoever has asked once asks again when the list is another object. Any
 * thread.
 */
public final class Revocations {
  private volatile RevocationList current = RevocationList.NONE;

  /** Makes one where nothing is revoked. */
  public Revocations() {}

  /**
   * Returns what is revoked now; one volatile read.
   *
   * @return another object after each change
   */
  public RevocationList current() {
    return current;
  }

  /** Changes what is revoked. */
  public void replace(RevocationList next) {
    current = next;
  }
}
