package io.eventbus.server.quota;

import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the clients of one identity or account may use and do use, at one moment. Immutable.
 *
 * @param account empty for the clients that have none
 * @param subject null for all clients of the account; empty for those of it without a name
 * @param limits what they may
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
  /** Takes a copy. */
  public QuotaUse {
    reached = Map.copyOf(reached);
  }

  /**
   * Returns what is used now.
   *
   * @return null for a rate
   */
  public @Nullable Long used(Quota quota) {
    return switch (quota) {
      case CONNECTIONS -> (long) connections;
      case SUBSCRIPTIONS -> subscriptions;
      case QUEUE_BYTES -> queueBytes;
      case CALLS -> calls;
      case PUBLISH_EVENTS, PUBLISH_BYTES, REQUESTS -> null;
    };
  }
}
