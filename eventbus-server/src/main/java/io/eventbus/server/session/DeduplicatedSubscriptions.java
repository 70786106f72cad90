package io.eventbus.server.session;

import io.eventbus.schema.Overflow;
import io.eventbus.server.routing.RoutedSubscription;
import io.eventbus.server.routing.SubscriptionIndex;
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
 * The subscriptions of one session as the index knows them: of those that are equal but for their
 * id only the first, because a connection gets an event once, however many of its subscriptions
 * match. Otherwise ten thousand times the same filter would make everybody's routes expensive.
 * Confined to the loop.
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

  /** Filters that are removed in one step: some microseconds. */
  private static final int SOME = 4;

  private final SubscriptionIndex index;
  private final Map<Key, Deque<RoutedSubscription>> byKey = new HashMap<>();
  private final Map<String, Integer> groups = new HashMap<>();
  private final Set<RoutedSubscription> withdrawn = new HashSet<>(4);

  DeduplicatedSubscriptions(SubscriptionIndex index) {
    this.index = index;
  }

  /** How many different groups there are, with one more. */
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
      // Other buses do not know of those that are there.
      equal.addFirst(s);
      index.add(s);
      index.remove(first);
    }
  }

  /**
   * Lets other buses choose a member of a group no more, which goes on to get what comes until it
   * is removed. With others that are equal and stay, they know no difference.
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
      // Before the other goes, so that no event finds neither.
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
   * Removes those of groups, of which no event may be given to a member that has gone, and forgets
   * the others.
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

  /** Removes some of those that were left. */
  boolean removeSome(Iterator<Deque<RoutedSubscription>> left) {
    for (int i = 0; i < SOME && left.hasNext(); i++) {
      remove(left.next());
    }
    return left.hasNext();
  }

  private void remove(Deque<RoutedSubscription> equal) {
    index.remove(equal.getFirst());
    equal.forEach(index::release);
  }
}
