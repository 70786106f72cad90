package io.eventbus.server.security;

import io.eventbus.server.config.ClientQuotas;
import io.eventbus.server.config.Quotas;

/**
 * Policy of the quotas of authenticated clients. Any thread, never an event loop for longer than
 * microseconds.
 */
public interface QuotaPolicy {
  /** Policy without quotas but those of tokens. */
  QuotaPolicy NONE =
      new QuotaPolicy() {
        @Override
        public Quotas ofIdentity(Identity identity) {
          return Quotas.NONE;
        }

        @Override
        public Quotas ofAccount(String account) {
          return Quotas.NONE;
        }
      };

  /** Returns what holds for all clients of an identity together, but for what their token says. */
  Quotas ofIdentity(Identity identity);

  /**
   * Returns what holds for all clients of an account together.
   *
   * @param account empty for the clients that have none
   */
  Quotas ofAccount(String account);

  /** Returns what holds for a client, but for what its token says. */
  default ClientQuotas quotas(Identity identity) {
    return new ClientQuotas(ofIdentity(identity), ofAccount(identity.account()));
  }

  /** Adds what holds where this policy says nothing. */
  default QuotaPolicy over(ClientQuotas defaults) {
    QuotaPolicy special = this;
    return new QuotaPolicy() {
      @Override
      public Quotas ofIdentity(Identity identity) {
        return special.ofIdentity(identity).over(defaults.identity());
      }

      @Override
      public Quotas ofAccount(String account) {
        return special.ofAccount(account).over(defaults.account());
      }
    };
  }
}
