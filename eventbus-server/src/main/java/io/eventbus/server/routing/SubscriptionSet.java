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

  void add(Subscription subscription) {
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

  /** Returns whether it was there. */
  boolean remove(Subscription subscription) {
    if (more == null) {
      boolean found = one == subscription;
      if (found) {
        one = null;
      }
      return found;
    }
    boolean found = more.remove(subscription);
    if (more.size() == 1) {
      // Also gives back the table, which does not shrink by itself.
      one = more.iterator().next();
      more = null;
    }
    return found;
  }

  boolean isEmpty() {
    return one == null && more == null;
  }

  void addTo(List<Subscription> found) {
    if (one != null) {
      found.add(one);
    } else if (more != null) {
      found.addAll(more);
    }
  }
}
