package io.eventbus.server.sys;

import io.eventbus.server.routing.Accounts;
import io.eventbus.server.routing.SubscriptionIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which accounts see what the bus tells of itself: the default account and that of the operators
 * everything, every other account only events about its own clients. Any thread.
 */
public final class Observers {
  private final Accounts accounts;
  private final List<String> operators;

  /**
   * Makes them.
   *
   * @param operators the account of operators; null where there is none but the default one
   */
  public Observers(Accounts accounts, @Nullable String operators) {
    this.accounts = accounts;
    this.operators =
        Stream.of(Accounts.DEFAULT, operators == null ? Accounts.DEFAULT : operators)
            .distinct()
            .toList();
  }

  /**
   * Says whether anybody who sees everything subscribes to a topic.
   *
   * @return false if an event for those who see everything would go nowhere
   */
  public boolean isWanted(String topic) {
    return !wanting(topic).isEmpty();
  }

  /** Those who see everything and subscribe to a topic. */
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

  /** The account that sees of an event because it is about its clients; null for none. */
  @Nullable SubscriptionIndex own(@Nullable String account) {
    return account == null || operators.contains(account) ? null : accounts.find(account);
  }
}
