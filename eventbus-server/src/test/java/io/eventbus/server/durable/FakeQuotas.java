package io.eventbus.server.durable;

import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.quota.QuotaAccounts;
import java.util.HashMap;
import java.util.Map;

/** Quotas of accounts for their journals that a test sets. */
public final class FakeQuotas {
  private final Map<String, Quotas> limits = new HashMap<>();
  final QuotaAccounts accounts = new QuotaAccounts(new Advisories(), System::nanoTime);

  /** Quotas that follow what is set later. */
  public final JournalQuotas quotas =
      new JournalQuotas(account -> limits.getOrDefault(account, Quotas.NONE), accounts);

  /** Sets a limit of an account, and no other. */
  public void limit(String account, Quota quota, long limit) {
    limits.put(account, new Quotas(Map.of(quota, limit)));
  }
}
