package io.eventbus.server.subscription;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Subscriptions with one filter: mostly one, so a real set is created only for the second. Guarded
 * by the lock of the index.
 */
final class SubscriptionSet {
  private @Nullable RoutedSubscription one;
  private @Nullable Set<RoutedSubscription> more;
  private @Nullable Map<String, Integer> groups;
  private long stamp;

  /**
   * Copy of {@link #more}, as long as nothing has changed: going through a set is slow, and a route
   * is built of many of which one has changed. Volatile, because loops that look up share the lock.
   */
  private volatile RoutedSubscription @Nullable [] copy;

  /** Adds a subscription. */
  void add(RoutedSubscription subscription, long changedAt) {
    stamp = changedAt;
    copy = null;
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
   * Removes a subscription; returns whether it was there.
   *
   * @param changedAt the new stamp, which no set has had
   */
  boolean remove(RoutedSubscription subscription, long changedAt) {
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
      copy = null;
    }
    return found;
  }

  /**
   * Returns the stamp of this set with its current content: two with the same stamp are the same.
   */
  long stamp() {
    return stamp;
  }

  boolean isEmpty() {
    return one == null && more == null;
  }

  int size() {
    return more != null ? more.size() : one != null ? 1 : 0;
  }

  /** Copies all into an array; returns the place behind the last. */
  int copyTo(RoutedSubscription[] all, int at) {
    Set<RoutedSubscription> several = more;
    if (several == null) {
      RoutedSubscription only = one;
      if (only == null) {
        return at;
      }
      all[at] = only;
      return at + 1;
    }
    RoutedSubscription[] copied = copy;
    if (copied == null) {
      copied = several.toArray(new RoutedSubscription[0]);
      copy = copied;
    }
    System.arraycopy(copied, 0, all, at, copied.length);
    return at + copied.length;
  }

  /** Counts the groups that were {@linkplain #countGroup counted}; 0 if a group is among them. */
  int otherGroups(String but) {
    Map<String, Integer> all = groups;
    return all == null || all.containsKey(but) ? 0 : all.size();
  }

  /** Counts a subscription of a group that was added or removed. */
  void countGroup(String group, int by) {
    Map<String, Integer> all = groups;
    if (all == null) {
      all = new HashMap<>(4);
      groups = all;
    }
    if (all.merge(group, by, Integer::sum) == 0) {
      all.remove(group);
      groups = all.isEmpty() ? null : all;
    }
  }
}
