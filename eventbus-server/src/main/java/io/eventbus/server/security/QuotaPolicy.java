package io.eventbus.server.security;

import io.eventbus.server.config.ClientQuotas;

/**
 * Says what quotas hold for a client, once it is known who it is. Any thread, never an event loop
 * for longer than microseconds.
 */
@FunctionalInterface
public interface QuotaPolicy {
  /** Where nothing is limited but by tokens. */
  QuotaPolicy NONE = identity -> ClientQuotas.NONE;

  /** Returns what holds for a client, but for what its token says. */
  ClientQuotas quotas(Identity identity);

  /** Adds what holds where this policy says nothing. */
  default QuotaPolicy over(ClientQuotas defaults) {
    return identity -> quotas(identity).over(defaults);
  }
}
