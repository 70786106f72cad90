package io.eventbus.server.session;

import io.eventbus.schema.Overflow;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Subscriptions of one session as the index knows them: of equal ones (except for the id) only the
 * first, because a connection gets an event once, however many of its subscriptions match.
 * Otherwise ten thousand copies of a filter would slow down every route. Confined to the loop.
 */
final class DeduplicatedSubscriptions {
  /**
   * Comparable, because clients choose filters: a table in which all of them collide stays fast.
   */
  private record Key(String filter, @Nullable String group, Overflow overflow)
      implements Comparable<Key> {
    private static final Comparator<Key> ORDER =
        Comparator.comparing(Key::filter)
            .thenComparing(Key::group, Comparator.nullsFirst(Comparator.<String>naturalOrder()))
            .thenComparing(Key::overflow);

    @Override
    public int compareTo(Key other) {
      return ORDER.compare(this, other);
    }

    static Key of(RoutedSubscription s) {
      return new Key(s.filter().toString(), s.group(), s.overflow());
    }
  }

  /** Filters removed in one step, which takes a few microseconds. */
  private static final int REMOVALS_PER_STEP = 4;

  private final SubscriptionIndex index;
  private final Map<Key, Deque<RoutedSubscription>> byKey = new HashMap<>();
  private final Map<String, Integer> groups = new HashMap<>();
  private final Set<RoutedSubscription> withdrawn = new HashSet<>(4);

  DeduplicatedSubscriptions(SubscriptionIndex index) {
    this.index = index;
  }

  /** Returns the number of different groups if this one is added. */
  int groupsWith(@Nullable String group) {
    return groups.size() + (group == null || groups.containsKey(group) ? 0 : 1);
  }

  void add(RoutedSubscription s) {
    index.keep(s);
    if (s.group() != null) {
      groups.merge(s.group(), 1, Integer::sum);
    }
    Deque<RoutedSubscription> equal = byKey.computeIfAbsent(Key.of(s), k -> new ArrayDeque<>(1));
    RoutedSubscription first = equal.peekFirst();
    if (first == null) {
      equal.add(s);
      index.add(s);
    } else if (!withdrawn.contains(first)) {
      equal.add(s);
    } else {
      // Peers do not know the withdrawn ones.
      equal.addFirst(s);
      index.add(s);
      index.remove(first);
    }
  }

  /**
   * Withdraws a group member: peers no longer choose it, but it still gets what arrives until it is
   * removed. Peers see no difference while an equal subscription stays.
   */
  void withdraw(RoutedSubscription s) {
    withdrawn.add(s);
    Deque<RoutedSubscription> equal = byKey.get(Key.of(s));
    if (equal != null && withdrawn.containsAll(equal)) {
      index.withdraw(equal.getFirst());
    }
  }

  void remove(RoutedSubscription s) {
    if (s.group() != null) {
      groups.computeIfPresent(s.group(), (g, n) -> n == 1 ? null : n - 1);
    }
    Key key = Key.of(s);
    Deque<RoutedSubscription> equal = byKey.get(key);
    if (equal == null) {
      return;
    }
    boolean known = equal.peekFirst() == s;
    equal.remove(s);
    index.release(s);
    RoutedSubscription next = equal.peekFirst();
    if (next == null) {
      byKey.remove(key);
    } else if (known) {
      // Before the removal below, so that every event finds one of the two.
      if (withdrawn.containsAll(equal)) {
        index.addWithdrawn(next);
      } else {
        index.add(next);
      }
    }
    if (known) {
      index.remove(s);
    }
    withdrawn.remove(s);
  }

  /**
   * Removes all group members, because a member that has left must not be chosen for an event, and
   * returns the other subscriptions.
   */
  Iterator<Deque<RoutedSubscription>> leave() {
    List<Deque<RoutedSubscription>> others = new ArrayList<>(byKey.size());
    for (Deque<RoutedSubscription> equal : byKey.values()) {
      if (equal.getFirst().group() == null) {
        others.add(equal);
      } else {
        remove(equal);
      }
    }
    byKey.clear();
    withdrawn.clear();
    groups.clear();
    return others.iterator();
  }

  /** Removes a few of the remaining subscriptions; returns whether more are left. */
  boolean removeSome(Iterator<Deque<RoutedSubscription>> left) {
    for (int i = 0; i < REMOVALS_PER_STEP && left.hasNext(); i++) {
      remove(left.next());
    }
    return left.hasNext();
  }

  private void remove(Deque<RoutedSubscription> equal) {
    index.remove(equal.getFirst());
    equal.forEach(index::release);
  }
}
