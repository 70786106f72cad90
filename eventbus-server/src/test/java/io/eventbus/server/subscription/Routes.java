package io.eventbus.server.subscription;

import java.util.HashSet;
import java.util.Set;

/** Routes of a frame, for other tests. */
public final class Routes {
  private Routes() {}

  /** Returns the peers that get events of a topic, groups left out. */
  public static Set<String> remote(SubscriptionIndex index, String topic) {
    Set<String> buses = new HashSet<>();
    Route route = lookup(index, topic).route();
    route.remotePlain().keySet().forEach(bus -> buses.add(bus.toString()));
    return buses;
  }

  /** Returns an index of another account with the same salt, which a bus never makes. */
  public static SubscriptionIndex twin(SubscriptionIndex index, String account) {
    return new SubscriptionIndex(index.accounts(), index.shared(), account, index.salt());
  }

  /** Looks a topic up as a loop does. */
  public static TopicRoute lookup(SubscriptionIndex index, String topic) {
    TopicRoute found = new TopicRoute(topic, index);
    index.refresh(found, new MatchResult());
    return found;
  }
}
