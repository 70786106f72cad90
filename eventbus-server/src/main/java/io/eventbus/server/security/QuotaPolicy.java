package io.eventbus.server.security;

import io.eventbus.server.config.ClientQuotas;

/**
 * Policy of the quotas of an authenticated client. Any thread, never an event loop for longer than
 * microseconds.
 */
@FunctionalInterface
public interface QuotaPolicy {
  /** Policy without quotas but those of tokens. */
  QuotaPolicy NONE = identity -> ClientQuotas.NONE;

  /** Returns what holds for a client, but for what its token says. */
  ClientQuotas quotas(Identity identity);

  /** Adds what holds where this policy says nothing. */
  default QuotaPolicy over(ClientQuotas defaults) {
    return identity -> quotas(identity).over(defaults);
  }
}
