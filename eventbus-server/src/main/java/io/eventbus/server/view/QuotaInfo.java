package io.eventbus.server.view;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Limits and use of the clients of one identity or of one account.
 *
 * @param account of the clients; empty for those that have none
 * @param subject their name in the account, empty for those without one; null for all clients of
 *     the account
 */
public record QuotaInfo(
    long id, String account, @Nullable String subject, boolean anonymous, List<Use> quotas) {
  /** Copies the list, so that the record is immutable. */
  public QuotaInfo {
    quotas = List.copyOf(quotas);
  }

  /**
   * Use of one quota.
   *
   * @param limit 0 for none
   * @param used what is used now; null for a rate
   */
  public record Use(String quota, long limit, @Nullable Long used, long reached) {}
}
