package io.eventbus.server.admin;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the clients of one identity or of one account may use of the bus, and do use.
 *
 * @param account whose clients they are; empty for those that have none
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
   * One quota.
   *
   * @param limit 0 for none
   * @param used what is used now; null for a rate
   */
  public record Use(String quota, long limit, @Nullable Long used, long reached) {}
}
