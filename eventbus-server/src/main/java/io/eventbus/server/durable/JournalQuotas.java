package io.eventbus.server.durable;

import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.quota.QuotaAccounts;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Quotas of accounts for their journals. Any thread; {@link #look} one at a time.
 *
 * <p>What is stored is looked at from time to time, so that a publication costs one read of a map
 * that is empty while no account is at its quota.
 */
public final class JournalQuotas {
  private final Function<String, Quotas> limits;
  private final QuotaAccounts accounts;
  private volatile Map<String, Supplier<String>> full = Map.of();

  /**
   * Creates quotas that refuse no publication until the first {@link #look}.
   *
   * @param limits quotas by account
   * @param accounts told of what is refused
   */
  public JournalQuotas(Function<String, Quotas> limits, QuotaAccounts accounts) {
    this.limits = limits;
    this.accounts = accounts;
  }

  /** Decides from now on by these figures, by account. */
  void look(Map<String, DurableFigures.Account> figures) {
    Map<String, Supplier<String>> now = new HashMap<>();
    figures.forEach(
        (account, held) -> {
          long limit = limits.apply(account).limit(Quota.DURABLE_BYTES);
          if (limit > 0 && held.bytes() >= limit) {
            now.put(
                account,
                accounts.refusal(
                    account,
                    Quota.DURABLE_BYTES,
                    limit,
                    "have " + held.bytes() + " bytes stored in durable topics",
                    "trim journals or shorten their retention"));
          }
        });
    full = Map.copyOf(now);
  }

  /** Returns the refusal of a publication, as {@link StoredDelivery#refusal} says. */
  @Nullable Supplier<String> refusal(String account) {
    Map<String, Supplier<String>> now = full;
    return now.isEmpty() ? null : now.get(account);
  }

  /**
   * Checks whether an account may have one more journal.
   *
   * @param journals how many it has
   * @throws JournalRefusedException if it may not
   */
  void checkOneMore(String account, long journals) {
    long limit = limits.apply(account).limit(Quota.JOURNALS);
    if (limit > 0 && journals >= limit) {
      throw new JournalRefusedException(
          accounts
              .refusal(
                  account,
                  Quota.JOURNALS,
                  limit,
                  "have " + journals + " journals",
                  "delete those that are not needed")
              .get(),
          false);
    }
  }
}
