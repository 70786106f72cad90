package io.eventbus.server.subscription;

import io.eventbus.schema.Overflow;
import io.eventbus.server.memory.HeapBytes;
import io.eventbus.server.memory.NumberTable;

/**
 * Groups of a route, each with its members, one after the other in one array: there may be tens of
 * thousands, and several routes with them. Groups whose members are all under BLOCK come first,
 * because only they may stall a publisher. Immutable.
 */
public final class RouteGroups {
  private static final RouteGroups NONE = new RouteGroups(new RoutedSubscription[0], new int[1], 0);

  private final RoutedSubscription[] members;

  /** Start of each group, and at last the end. */
  private final int[] starts;

  private final int blocking;

  private final NumberTable numbers;

  private RouteGroups(RoutedSubscription[] members, int[] starts, int blocking) {
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
   */
  static RouteGroups of(RoutedSubscription[] matching, int count) {
    if (count == 0) {
      return NONE;
    }
    NumberTable found = new NumberTable(count);
    int[] groupOf = new int[count];
    for (int i = 0; i < count; i++) {
      groupOf[i] = found.add(matching[i].groupNumber());
    }
    int groups = found.size();
    int[] ends = new int[groups + 1];
    for (int g : groupOf) {
      ends[g + 1]++;
    }
    for (int g = 0; g < groups; g++) {
      ends[g + 1] += ends[g];
    }
    int[] starts = ends.clone();
    RoutedSubscription[] sorted = new RoutedSubscription[count];
    int[] at = ends.clone();
    for (int i = 0; i < count; i++) {
      sorted[at[groupOf[i]]++] = matching[i];
    }
    // Of each member of a group only the first subscription stays, and decides.
    boolean[] mayHold = new boolean[groups];
    int blocking = 0;
    int members = 0;
    for (int g = 0; g < groups; g++) {
      ends[g] = unique(sorted, starts[g], starts[g + 1]);
      mayHold[g] = allBlock(sorted, starts[g], ends[g]);
      blocking += mayHold[g] ? 1 : 0;
      members += ends[g] - starts[g];
    }
    RoutedSubscription[] all = new RoutedSubscription[members];
    int[] allStarts = new int[groups + 1];
    int to = 0;
    int done = 0;
    for (boolean first : new boolean[] {true, false}) {
      for (int g = 0; g < groups; g++) {
        if (mayHold[g] == first) {
          int size = ends[g] - starts[g];
          System.arraycopy(sorted, starts[g], all, to, size);
          to += size;
          allStarts[++done] = to;
        }
      }
    }
    return new RouteGroups(all, allStarts, blocking);
  }

  /** Moves the first subscription of each member to the front; returns the end of these. */
  private static int unique(RoutedSubscription[] sorted, int from, int to) {
    SubscriberSet seen = new SubscriberSet(to - from);
    int end = from;
    for (int i = from; i < to; i++) {
      if (seen.add(sorted[i].subscriber()) < 0) {
        sorted[end++] = sorted[i];
      }
    }
    return end;
  }

  private static boolean allBlock(RoutedSubscription[] sorted, int from, int to) {
    for (int i = from; i < to; i++) {
      if (sorted[i].overflow() != Overflow.BLOCK) {
        return false;
      }
    }
    return true;
  }

  /** Returns the number of groups. */
  public int size() {
    return starts.length - 1;
  }

  /** Returns how many groups, the first ones, have only members under BLOCK. */
  public int blocking() {
    return blocking;
  }

  /** Returns the number of members of a group, at least one. */
  public int size(int group) {
    return starts[group + 1] - starts[group];
  }

  /** Returns a member of a group. */
  public RoutedSubscription member(int group, int i) {
    return members[starts[group] + i];
  }

  /** Returns the number of members of all groups together. */
  int members() {
    return members.length;
  }

  /** Returns whether publishers have to wait, because no member of a group has room. */
  public boolean isFull(int group) {
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

  /** Returns the position of a group; -1 if it has no member here. */
  int find(long number) {
    return numbers.find(number);
  }

  /** Returns the estimated heap in bytes. */
  long bytes() {
    return size() == 0
        ? 0
        : HeapBytes.ofSlots(members.length) + HeapBytes.ofInts(starts.length) + numbers.bytes();
  }
}
