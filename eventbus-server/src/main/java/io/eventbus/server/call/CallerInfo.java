package io.eventbus.server.call;

/**
 * Who calls, as members may be told. Immutable; any thread.
 *
 * <p>Calls of clients with the same {@code share} take turns as if they were of one client.
 *
 * @param identity the name that the caller has proved, in UTF-8; empty for none; not to be changed
 * @param account whose services it calls; empty for the default account
 * @param share what clients of one user have in common, by {@code equals}: the name that they have
 *     proved, or something of the connection's own for those without one
 */
@SuppressWarnings("ArrayRecordComponent")
public record CallerInfo(long producer, byte[] identity, String account, Object share) {
  /**
   * Makes a caller of the default account.
   *
   * @param share what clients of one user have in common
   */
  public CallerInfo(long producer, byte[] identity, Object share) {
    this(producer, identity, "", share);
  }
}
