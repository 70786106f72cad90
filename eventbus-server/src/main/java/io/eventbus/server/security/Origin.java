package io.eventbus.server.security;

/**
 * Where credentials come from, for what costs so much that one place must not have all of it.
 *
 * @param address equal for all clients that share the limits of one address
 * @param standing before whom they are looked at
 */
public record Origin(Object address, boolean failsOften, Standing standing) {
  /**
   * Standing of an address by the credentials that it has shown lately; the first ones are checked
   * first.
   */
  public enum Standing {
    /** Right credentials. */
    PROVED,
    /** Nothing, or nothing that is remembered. */
    UNKNOWN,
    /** Wrong credentials. */
    FAILED
  }

  /**
   * Makes one of an address of which only failures are remembered.
   *
   * @param address equal for all clients that share the limits of one address
   */
  public Origin(Object address, boolean failsOften) {
    this(address, failsOften, failsOften ? Standing.FAILED : Standing.UNKNOWN);
  }
}
