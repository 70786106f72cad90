package io.eventbus.server.sys;

import io.eventbus.server.subscription.Accounts;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Accounts that see the bus's own events: the default account and that of the operators see
 * everything, every other account only events about its own clients. Any thread.
 */
public final class Observers {
  private final Accounts accounts;
  private final List<String> operators;

  /**
   * Creates the observers.
   *
   * @param operators the account of operators; null if there is none but the default one
   */
  public Observers(Accounts accounts, @Nullable String operators) {
    this.accounts = accounts;
    this.operators =
        Stream.of(Accounts.DEFAULT, operators == null ? Accounts.DEFAULT : operators)
            .distinct()
            .toList();
  }

  /**
   * Returns whether anybody who sees everything subscribes to a topic; if not, an event for
   * operators would go nowhere.
   */
  public boolean isWanted(String topic) {
    return !wanting(topic).isEmpty();
  }

  /** Returns the accounts that see everything and subscribe to a topic. */
  List<SubscriptionIndex> wanting(String topic) {
    List<SubscriptionIndex> wanting = new ArrayList<>();
    for (String account : operators) {
      SubscriptionIndex index = accounts.find(account);
      if (index != null && index.isWanted(topic)) {
        wanting.add(index);
      }
    }
    return wanting;
  }

  /** Returns the account that sees an event because it is about its clients; null for none. */
  @Nullable SubscriptionIndex own(@Nullable String account) {
    return account == null || operators.contains(account) ? null : accounts.find(account);
  }
}
