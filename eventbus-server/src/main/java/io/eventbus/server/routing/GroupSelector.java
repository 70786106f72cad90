package io.eventbus.server.routing;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.RouteTarget;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.subscription.Route;
import io.eventbus.server.subscription.RouteGroups;
import io.eventbus.server.subscription.RoutedSubscription;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * Selector, for one frame, of one member of each group: round robin, and preferring those whose
 * queues have room. A chosen connection gets one delivery of its own, which names its group
 * subscriptions, instead of the shared one.
 *
 * <p>Confined to its loop; empty between frames.
 */
final class GroupSelector {
  /** Chosen connection and those of its subscriptions that the frame is for. */
  private static final class Chosen {
    final Subscriber member;
    Overflow overflow;
    long[] ids = new long[1];
    int idCount;
    boolean alsoPlain;

    Chosen(Subscriber member, Overflow overflow) {
      this.member = member;
      this.overflow = overflow;
    }

    void add(RoutedSubscription s) {
      if (idCount == ids.length) {
        ids = Arrays.copyOf(ids, idCount * 2);
      }
      ids[idCount++] = s.id();
      overflow = RouteTarget.stricter(overflow, s.overflow());
    }
  }

  /**
   * Maximum of members of a group that are asked whether they have much to read; then any will do.
   */
  private static final int LOOKED = 16;

  private final List<Chosen> chosen = new ArrayList<>();

  /** Chosen connections by member: there may be thousands. */
  private final IdentityHashMap<Subscriber, Chosen> byMember = new IdentityHashMap<>();

  private boolean anyPlain;

  /** Chooses for the next frame of a topic, which the caller counts. */
  void choose(Route route, int roundRobin) {
    // An error may have kept the last frame's choice from being cleared.
    clear();
    for (int g = 0; g < route.groups().size(); g++) {
      choose(route, g, roundRobin);
    }
  }

  /** Chooses a member of one group. */
  void choose(Route route, int group, int roundRobin) {
    RoutedSubscription s = pick(route.groups(), group, roundRobin);
    Chosen c = byMember.get(s.subscriber());
    if (c == null) {
      c = new Chosen(s.subscriber(), s.overflow());
      Overflow ungrouped = route.ungroupedOverflow(s.subscriber());
      if (ungrouped != null) {
        c.overflow = RouteTarget.stricter(c.overflow, ungrouped);
        c.alsoPlain = true;
        anyPlain = true;
      }
      chosen.add(c);
      byMember.put(s.subscriber(), c);
    }
    c.add(s);
  }

  private static RoutedSubscription pick(RouteGroups groups, int group, int roundRobin) {
    int size = groups.size(group);
    int first = Math.floorMod(roundRobin, size);
    RoutedSubscription withRoom = null;
    int looked = Math.min(size, LOOKED);
    for (int i = 0; i < looked; i++) {
      RoutedSubscription s = groups.member(group, (first + i) % size);
      if (!s.subscriber().isCrowded()) {
        return s;
      }
      if (withRoom == null && s.overflow() == Overflow.BLOCK && !s.subscriber().isFull()) {
        withRoom = s;
      }
    }
    if (withRoom != null) {
      return withRoom;
    }
    // No publisher had to wait for these: some member's policy makes room, or one has room;
    // others' would take the event beyond their bound.
    for (int i = 0; i < size; i++) {
      RoutedSubscription s = groups.member(group, (first + i) % size);
      if (s.overflow() != Overflow.BLOCK || (i >= looked && !s.subscriber().isFull())) {
        return s;
      }
    }
    return groups.member(group, first);
  }

  /** Returns the targets without those that get a delivery of their own. */
  RouteTarget[] without(RouteTarget[] targets) {
    if (!anyPlain) {
      return targets;
    }
    return Arrays.stream(targets).filter(t -> !hasOwn(t.subscriber())).toArray(RouteTarget[]::new);
  }

  private boolean hasOwn(Subscriber subscriber) {
    Chosen c = byMember.get(subscriber);
    return c != null && c.alsoPlain;
  }

  int size() {
    return chosen.size();
  }

  /** Counts the chosen connections that get the frame for their groups only. */
  int ofGroupsOnly() {
    int count = 0;
    for (int i = 0; i < chosen.size(); i++) {
      count += chosen.get(i).alsoPlain ? 0 : 1;
    }
    return count;
  }

  Subscriber member(int i) {
    return chosen.get(i).member;
  }

  Overflow overflow(int i) {
    return chosen.get(i).overflow;
  }

  long[] ids(int i) {
    return chosen.get(i).ids;
  }

  int idCount(int i) {
    return chosen.get(i).idCount;
  }

  void clear() {
    // Singly: a table that has been large stays long.
    for (int i = 0; i < chosen.size(); i++) {
      byMember.remove(chosen.get(i).member);
    }
    chosen.clear();
    anyPlain = false;
  }
}
