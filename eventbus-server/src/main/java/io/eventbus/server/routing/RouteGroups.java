package io.eventbus.server.routing;

import io.eventbus.schema.Overflow;
import java.util.Arrays;

/**
 * The groups of a route, each with its members, one after the other in one array: there may be tens
 * of thousands, and several routes with them. Those come first whose members are all under BLOCK,
 * because only they may hold a publisher back. Immutable.
 */
final class RouteGroups {
  private static final RouteGroups NONE = new RouteGroups(new Subscription[0], new int[1], 0);

  private final Subscription[] members;

  /** Where each group begins, and at last where they end. */
  private final int[] starts;

  private final int blocking;

  private final NumberTable numbers;

  private RouteGroups(Subscription[] members, int[] starts, int blocking) {
    this.members = members;
    this.starts = starts;
    this.blocking = blocking;
    this.numbers = new NumberTable(size());
    for (int g = 0; g < size(); g++) {
      numbers.add(members[starts[g]].groupNumber());
    }
  }

  /**
   * Sorts subscriptions by their groups.
   *
   * @param matching of clients of this bus, each of a group; a subscriber may be there more than
   *     once
   * @param count how many of these there are
   */
  static RouteGroups of(Subscription[] matching, int count) {
    if (count == 0) {
      return NONE;
    }
    NumberTable found = new NumberTable(count);
    int[] groupOf = new int[count];
    for (int i = 0; i < count; i++) {
      groupOf[i] = found.add(matching[i].groupNumber());
    }
    int[] sizes = new int[found.size()];
    boolean[] mayHold = new boolean[found.size()];
    Arrays.fill(mayHold, true);
    for (int i = 0; i < count; i++) {
      sizes[groupOf[i]]++;
      mayHold[groupOf[i]] &= matching[i].overflow() == Overflow.BLOCK;
    }
    int[] order = new int[found.size()];
    int blocking = 0;
    for (int g = 0; g < order.length; g++) {
      blocking += mayHold[g] ? 1 : 0;
    }
    int first = 0;
    int other = blocking;
    for (int g = 0; g < order.length; g++) {
      order[mayHold[g] ? first++ : other++] = g;
    }
    int[] at = new int[order.length];
    int end = 0;
    for (int g : order) {
      at[g] = end;
      end += sizes[g];
    }
    Subscription[] sorted = new Subscription[count];
    for (int i = 0; i < count; i++) {
      sorted[at[groupOf[i]]++] = matching[i];
    }
    return unique(sorted, order, sizes, blocking);
  }

  /** Leaves of each member of a group only the first subscription. */
  private static RouteGroups unique(Subscription[] sorted, int[] order, int[] sizes, int blocking) {
    int[] starts = new int[order.length + 1];
    int from = 0;
    int to = 0;
    for (int i = 0; i < order.length; i++) {
      int size = sizes[order[i]];
      SubscriberSet seen = new SubscriberSet(size);
      for (int end = from + size; from < end; from++) {
        if (seen.add(sorted[from].subscriber()) < 0) {
          sorted[to++] = sorted[from];
        }
      }
      starts[i + 1] = to;
    }
    return new RouteGroups(
        to == sorted.length ? sorted : Arrays.copyOf(sorted, to), starts, blocking);
  }

  /** How many groups there are. */
  int size() {
    return starts.length - 1;
  }

  /** So many of them, the first, have only members under BLOCK. */
  int blocking() {
    return blocking;
  }

  /** How many members a group has, at least one. */
  int size(int group) {
    return starts[group + 1] - starts[group];
  }

  /** One of the members of a group. */
  Subscription member(int group, int i) {
    return members[starts[group] + i];
  }

  /** How many members all groups have together. */
  int members() {
    return members.length;
  }

  /** Whether publishers have to wait, because no member of a group has room. */
  boolean isFull(int group) {
    if (group >= blocking) {
      return false;
    }
    for (int i = starts[group]; i < starts[group + 1]; i++) {
      if (!members[i].subscriber().isFull()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Finds a group.
   *
   * @param number from {@link GroupNames}
   * @return -1 if it has no member here
   */
  int find(long number) {
    return numbers.find(number);
  }

  /** What it takes of the heap by estimate. */
  long bytes() {
    return size() == 0
        ? 0
        : HeapBytes.ofSlots(members.length) + HeapBytes.ofInts(starts.length) + numbers.bytes();
  }
}
