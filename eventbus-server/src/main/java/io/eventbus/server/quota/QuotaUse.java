package io.eventbus.server.quota;

import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Limits and use of the clients of one identity or account, at one moment. Immutable.
 *
 * @param account empty for the clients that have none
 * @param subject null for all clients of the account; empty for those of it without a name
 */
public record QuotaUse(
    long number,
    String account,
    @Nullable String subject,
    boolean anonymous,
    Quotas limits,
    int connections,
    long subscriptions,
    long queueBytes,
    long calls,
    Map<Quota, Long> reached) {
  /** Copies the maps. */
  public QuotaUse {
    reached = Map.copyOf(reached);
  }

  /** Returns what is used now; null for a rate, and for what journals hold. */
  public @Nullable Long used(Quota quota) {
    return switch (quota) {
      case CONNECTIONS -> (long) connections;
      case SUBSCRIPTIONS -> subscriptions;
      case QUEUE_BYTES -> queueBytes;
      case CALLS -> calls;
      case PUBLISH_EVENTS, PUBLISH_BYTES, REQUESTS, DURABLE_BYTES, JOURNALS -> null;
    };
  }
}
