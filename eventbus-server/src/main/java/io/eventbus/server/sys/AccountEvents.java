package io.eventbus.server.sys;

import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.routing.SubscriptionIndex;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Gives each event of the bus to those who see everything, and one about clients of another account
 * to that account: at a rate of its own, so that it neither hears how much happens to others nor
 * misses anything because of it. Any thread.
 */
final class AccountEvents implements Consumer<Advisory> {
  private final String topic;
  private final Observers observers;
  private final Consumer<Advisory> operators;
  private final Function<SubscriptionIndex, Consumer<Advisory>> publishers;
  // Of accounts that want them, as many as there are accounts at most.
  private final Map<SubscriptionIndex, Consumer<Advisory>> own = new ConcurrentHashMap<>();

  AccountEvents(
      String topic,
      Observers observers,
      Consumer<Advisory> operators,
      Function<SubscriptionIndex, Consumer<Advisory>> publishers) {
    this.topic = topic;
    this.observers = observers;
    this.operators = operators;
    this.publishers = publishers;
  }

  @Override
  public void accept(Advisory advisory) {
    operators.accept(advisory);
    SubscriptionIndex account = observers.own(advisory.account());
    if (account != null && account.isWanted(topic)) {
      own.computeIfAbsent(account, this::publisher).accept(advisory);
    }
  }

  private Consumer<Advisory> publisher(SubscriptionIndex account) {
    own.keySet().removeIf(SubscriptionIndex::isDropped);
    return publishers.apply(account);
  }

  int size() {
    return own.size();
  }
}
