package io.eventbus.server.config;

/**
 * Quotas of a client, on each bus. Immutable.
 *
 * @param identity for all clients with the same account and name together
 * @param account for all clients of the same account together
 */
public record ClientQuotas(Quotas identity, Quotas account) {
  /** No quotas. */
  public static final ClientQuotas NONE = new ClientQuotas(Quotas.NONE, Quotas.NONE);

  /**
   * Returns whether nothing is limited.
   *
   * @return true if there is nothing to count
   */
  public boolean areNone() {
    return identity.areNone() && account.areNone();
  }

  /**
   * Returns these quotas, completed by others where these say nothing.
   *
   * @param others less special ones
   * @return both
   */
  public ClientQuotas over(ClientQuotas others) {
    return new ClientQuotas(identity.over(others.identity), account.over(others.account));
  }
}
