package io.eventbus.server.routing;

import io.eventbus.schema.Overflow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who gets the events of a topic, and of every other topic that the same filters select. Immutable
 * but for the shares in it, which {@link RouteTable} counts.
 */
final class Route {
  private static final Target[] NOBODY = {};
  private static final Subscriber[] NO_SUBSCRIBERS = {};
  private static final long[] NO_STAMPS = {};

  /** What it was made of; see {@link SubscriptionSet#stamp}. */
  final long[] stamps;

  /** The subscribers without a group: for each loop those that it owns, perhaps none. */
  final Target[][] byLoop;

  final int targetCount;

  private final boolean isPlain;

  /** Those of {@link #byLoop} that publishers have to wait for. */
  final Subscriber[] blocking;

  /** For each group its members; one of them gets each frame. */
  final Subscription[][] groups;

  /** Other buses with subscribers without a group, and the strictest of their policies. */
  final Map<RemoteBus, Overflow> remotePlain;

  /** Groups with members at other buses only: a member here comes first. */
  final Map<String, List<RemoteBus>> remoteGroups;

  /** What it takes of the heap by estimate, with its place in the table. */
  final long bytes;

  /** How many hold it; guarded by the table. */
  int shares;

  // Written once, before any other thread can see the route.
  private boolean shared;

  // Of members of the groups only: who else is here on its own account is of no interest.
  private final Map<Subscriber, Overflow> plainMembers;

  Route(int loops, long[] stamps, List<Subscription> matching) {
    this.stamps = stamps;

    UniqueTargets single = new UniqueTargets(matching.size());
    Map<String, Map<Subscriber, Subscription>> grouped = Map.of();
    Map<RemoteBus, Overflow> far = Map.of();
    Map<String, List<RemoteBus>> farGroups = Map.of();
    for (int i = 0; i < matching.size(); i++) {
      Subscription s = matching.get(i);
      String group = s.group();
      if (s.subscriber() instanceof RemoteBus bus) {
        if (group == null) {
          far = far.isEmpty() ? new LinkedHashMap<>() : far;
          far.merge(bus, s.overflow(), Target::stricter);
        } else {
          farGroups = farGroups.isEmpty() ? new LinkedHashMap<>() : farGroups;
          List<RemoteBus> buses = farGroups.computeIfAbsent(group, g -> new ArrayList<>());
          if (!buses.contains(bus)) {
            buses.add(bus);
          }
        }
      } else if (group == null) {
        single.add(s.target());
      } else {
        grouped = grouped.isEmpty() ? new LinkedHashMap<>() : grouped;
        grouped.computeIfAbsent(group, g -> new LinkedHashMap<>()).putIfAbsent(s.subscriber(), s);
      }
    }
    if (!farGroups.isEmpty()) {
      farGroups.keySet().removeAll(grouped.keySet());
    }
    remotePlain = far;
    remoteGroups = farGroups;
    byLoop = single.byLoop(loops);
    targetCount = single.size;
    blocking = single.blocking();
    isPlain = blocking.length == targetCount;
    groups = new Subscription[grouped.size()][];
    Map<Subscriber, Overflow> both = Map.of();
    int g = 0;
    for (Map<Subscriber, Subscription> members : grouped.values()) {
      groups[g++] = members.values().toArray(new Subscription[0]);
      for (Subscriber member : members.keySet()) {
        Target own = single.find(member);
        if (own != null) {
          both = both.isEmpty() ? new HashMap<>() : both;
          both.put(member, own.overflow());
        }
      }
    }
    plainMembers = both;
    bytes = HeapBytes.ofRoute(this, both.size());
  }

  /** The route of a topic that nobody subscribes to; it takes part in no count. */
  static Route ofNobody(int loops) {
    Route nobody = new Route(loops, NO_STAMPS, List.of());
    nobody.shared = true;
    return nobody;
  }

  /** The first holder's share. */
  void share() {
    shared = true;
    shares = 1;
  }

  /** Whether it is remembered; if not, whoever has it is alone with it, and uncounted. */
  boolean isShared() {
    return shared;
  }

  /** About what it costs to deliver a frame of so many events here, in units of a target. */
  int work(int events) {
    if (isPlain) {
      return targetCount + groups.length;
    }
    int work = groups.length;
    for (Target[] targets : byLoop) {
      for (Target target : targets) {
        work += target.work(events);
      }
    }
    return work;
  }

  boolean isEmpty() {
    return targetCount == 0 && groups.length == 0;
  }

  boolean leavesTheBus() {
    return !remotePlain.isEmpty() || !remoteGroups.isEmpty();
  }

  /** The members of a group; null if it has none here. */
  Subscription @Nullable [] group(String name) {
    for (Subscription[] members : groups) {
      if (name.equals(members[0].group())) {
        return members;
      }
    }
    return null;
  }

  /**
   * The policy of a member of a group that gets the events on its own account, too; null when it
   * does not.
   */
  @Nullable Overflow plainOverflow(Subscriber member) {
    return plainMembers.get(member);
  }

  /**
   * Collects each subscriber once, with the strictest of its policies. A hash table of places in a
   * list: a map would make an object for each subscriber, and a look-up for a route that there is
   * no room for is made for each frame.
   */
  private static final class UniqueTargets {
    private Target[] targets;
    private int size;
    private int[] places;

    UniqueTargets(int most) {
      targets = new Target[most];
      // One by itself, the usual case, needs none.
      places = most < 2 ? new int[0] : new int[Integer.highestOneBit(most) << 2];
    }

    void add(Target target) {
      if (places.length > 0) {
        int slot = slot(target.subscriber());
        if (places[slot] != 0) {
          int at = places[slot] - 1;
          Target before = targets[at];
          if (Target.stricter(before.overflow(), target.overflow()) != before.overflow()) {
            targets[at] = target;
          }
          return;
        }
        places[slot] = size + 1;
      }
      targets[size++] = target;
    }

    /** Where a subscriber is, or would be. */
    private int slot(Subscriber subscriber) {
      int mask = places.length - 1;
      int slot = (System.identityHashCode(subscriber) * 0x9e3779b9) >>> 7 & mask;
      while (places[slot] != 0 && targets[places[slot] - 1].subscriber() != subscriber) {
        slot = (slot + 1) & mask;
      }
      return slot;
    }

    @Nullable Target find(Subscriber subscriber) {
      if (places.length > 0) {
        int place = places[slot(subscriber)];
        return place == 0 ? null : targets[place - 1];
      }
      return size > 0 && targets[0].subscriber() == subscriber ? targets[0] : null;
    }

    Target[][] byLoop(int loops) {
      int[] counts = new int[loops];
      for (int i = 0; i < size; i++) {
        counts[targets[i].subscriber().loop()]++;
      }
      Target[][] all = new Target[loops][];
      for (int i = 0; i < loops; i++) {
        all[i] = counts[i] == 0 ? NOBODY : new Target[counts[i]];
      }
      Arrays.fill(counts, 0);
      for (int i = 0; i < size; i++) {
        int loop = targets[i].subscriber().loop();
        all[loop][counts[loop]++] = targets[i];
      }
      return all;
    }

    Subscriber[] blocking() {
      int count = 0;
      for (int i = 0; i < size; i++) {
        count += targets[i].overflow() == Overflow.BLOCK ? 1 : 0;
      }
      if (count == 0) {
        return NO_SUBSCRIBERS;
      }
      Subscriber[] waits = new Subscriber[count];
      int at = 0;
      for (int i = 0; i < size; i++) {
        if (targets[i].overflow() == Overflow.BLOCK) {
          waits[at++] = targets[i].subscriber();
        }
      }
      return waits;
    }
  }
}
