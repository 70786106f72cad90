package io.eventbus.server.security;

/**
 * The client's address, for per-address login limits.
 *
 * @param address equal for all clients that share the limits of one address
 * @param standing order in which credentials are checked
 */
public record Origin(Object address, boolean failsOften, Standing standing) {
  /**
   * Standing of an address by the credentials that it has shown lately; the first ones are checked
   * first.
   */
  public enum Standing {
    /** Right credentials. */
    PROVED,
    /** No credentials, or none that are remembered. */
    UNKNOWN,
    /** Wrong credentials. */
    FAILED
  }

  /**
   * Creates the origin of an address of which only failures are remembered.
   *
   * @param address equal for all clients that share the limits of one address
   */
  public Origin(Object address, boolean failsOften) {
    this(address, failsOften, failsOften ? Standing.FAILED : Standing.UNKNOWN);
  }
}
