package io.eventbus.server.call;

/**
 * Description of a caller for members. Immutable; any thread.
 *
 * <p>Calls of clients with the same {@code share} take turns as if they were of one client.
 *
 * @param identity authenticated name of the caller in UTF-8; empty for none; not to be changed
 * @param account account whose services it calls; empty for the default account
 * @param share key that the clients of one user share, compared by {@code equals}: their
 *     authenticated name, or something unique for a connection without a name
 */
@SuppressWarnings("ArrayRecordComponent")
public record CallerInfo(long producer, byte[] identity, String account, Object share) {
  /**
   * Creates a caller of the default account.
   *
   * @param share key that the clients of one user share
   */
  public CallerInfo(long producer, byte[] identity, Object share) {
    this(producer, identity, "", share);
  }
}
