package io.eventbus.server.routing;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions with one filter: mostly one, so a real set is made only for the second. Guarded
 * by the lock of the index.
 */
final class SubscriptionSet {
  private @Nullable Subscription one;
  private @Nullable Set<Subscription> more;
  private long stamp;

  /**
   * Adds a subscription.
   *
   * @param changedAt the new stamp, which no set has had
   */
  void add(Subscription subscription, long changedAt) {
    stamp = changedAt;
    if (more != null) {
      more.add(subscription);
    } else if (one == null) {
      one = subscription;
    } else {
      more = new LinkedHashSet<>(4);
      more.add(one);
      more.add(subscription);
      one = null;
    }
  }

  /**
   * Removes a subscription.
   *
   * @param changedAt the new stamp if it was there, which no set has had
   * @return whether it was there
   */
  boolean remove(Subscription subscription, long changedAt) {
    boolean found;
    if (more == null) {
      found = one == subscription;
      if (found) {
        one = null;
      }
    } else {
      found = more.remove(subscription);
      if (more.size() == 1) {
        // Also gives back the table, which does not shrink by itself.
        one = more.iterator().next();
        more = null;
      }
    }
    if (found) {
      stamp = changedAt;
    }
    return found;
  }

  /** Stands for this set with what is in it now: two with the same stamp are the same. */
  long stamp() {
    return stamp;
  }

  boolean isEmpty() {
    return one == null && more == null;
  }

  int size() {
    return more != null ? more.size() : one != null ? 1 : 0;
  }

  void addTo(List<Subscription> found) {
    if (one != null) {
      found.add(one);
    } else if (more != null) {
      found.addAll(more);
    }
  }
}
