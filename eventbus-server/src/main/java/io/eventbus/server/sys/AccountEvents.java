package io.eventbus.server.sys;

import io.eventbus.server.subscription.SubscriptionIndex;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Distributor of the bus's events to operators, and of those about clients of another account to
 * that account: at a rate of its own, so that it neither hears how much happens to others nor
 * misses anything because of it. Any thread.
 */
final class AccountEvents<E> implements Consumer<E> {
  private final Function<E, String> topics;
  private final Function<E, @Nullable String> accounts;
  private final Observers observers;
  private final Consumer<E> operators;
  private final Function<SubscriptionIndex, Consumer<E>> publishers;
  // Of accounts that want them, as many as there are accounts at most.
  private final Map<SubscriptionIndex, Consumer<E>> own = new ConcurrentHashMap<>();

  /**
   * Creates a distributor.
   *
   * @param accounts account of the clients that an event is about; null for none
   */
  AccountEvents(
      Function<E, String> topics,
      Function<E, @Nullable String> accounts,
      Observers observers,
      Consumer<E> operators,
      Function<SubscriptionIndex, Consumer<E>> publishers) {
    this.topics = topics;
    this.accounts = accounts;
    this.observers = observers;
    this.operators = operators;
    this.publishers = publishers;
  }

  @Override
  public void accept(E event) {
    operators.accept(event);
    SubscriptionIndex account = observers.own(accounts.apply(event));
    if (account != null && account.isWanted(topics.apply(event))) {
      own.computeIfAbsent(account, this::publisher).accept(event);
    }
  }

  private Consumer<E> publisher(SubscriptionIndex account) {
    own.keySet().removeIf(SubscriptionIndex::isDropped);
    return publishers.apply(account);
  }

  int size() {
    return own.size();
  }
}
