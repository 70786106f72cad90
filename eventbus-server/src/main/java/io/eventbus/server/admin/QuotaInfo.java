package io.eventbus.server.admin;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the clients of one identity or of one account may use of the bus, and do use.
 *
 * @param id number on this bus, rising in the order in which they came
 * @param account whose clients they are; empty for those that have none
 * @param subject their name in the account, empty for those without one; null for all clients of
 *     the account
 * @param anonymous whether they have proved nothing
 * @param quotas all of them
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
   * @param quota its name
   * @param limit 0 for none
   * @param used what is used now; null for a rate
   * @param reached how often the limit was met
   */
  public record Use(String quota, long limit, @Nullable Long used, long reached) {}
}
