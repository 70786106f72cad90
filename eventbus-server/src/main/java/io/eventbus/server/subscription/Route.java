package io.eventbus.server.subscription;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.RouteTarget;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.memory.HeapBytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Subscribers that get the events of a topic, and of every other topic that the same filters match.
 * Immutable but for the shares in it, which {@link RouteTable} counts.
 */
public final class Route {
  private static final RouteTarget[] NOBODY = {};
  private static final Subscriber[] NO_SUBSCRIBERS = {};
  private static final long[] NO_STAMPS = {};

  /** Heap of a route and its place among those that are remembered, without its parts. */
  private static final int HEAP_BYTES = 136;

  /** Stamps of the sets that it was built of; see {@link SubscriptionSet#stamp}. */
  final long[] stamps;

  private final RouteTarget[][] byLoop;

  private final int targetCount;

  private final boolean isPlain;

  private final Subscriber[] blocking;

  private final RouteGroups groups;

  private final Map<RemoteBus, Overflow> remotePlain;

  private final Map<String, List<RemoteBus>> remoteGroups;

  /** Estimated heap, with its place in the table. */
  final long bytes;

  /** Number of holders; guarded by the table. */
  int shares;

  // Written once, before any other thread can see the route.
  private boolean shared;

  // Of members of the groups only: other subscribers without a group do not matter.
  private final Map<Subscriber, Overflow> plainMembers;

  Route(int loops, long[] stamps, RoutedSubscription... matching) {
    this.stamps = stamps;

    UniqueTargets single = new UniqueTargets(matching.length);
    RoutedSubscription[] grouped = new RoutedSubscription[matching.length];
    int groupedCount = 0;
    Map<RemoteBus, Overflow> far = Map.of();
    Map<String, List<RemoteBus>> farGroups = Map.of();
    for (RoutedSubscription s : matching) {
      String group = s.group();
      if (s.subscriber() instanceof RemoteBus bus) {
        if (group == null) {
          far = far.isEmpty() ? new LinkedHashMap<>() : far;
          far.merge(bus, s.overflow(), RouteTarget::stricter);
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
        grouped[groupedCount++] = s;
      }
    }
    groups = RouteGroups.of(grouped, groupedCount);
    for (int g = 0; g < groups.size() && !farGroups.isEmpty(); g++) {
      farGroups.remove(groups.member(g, 0).group());
    }
    remotePlain = far;
    remoteGroups = farGroups;
    byLoop = single.byLoop(loops);
    targetCount = single.size();
    blocking = single.blocking();
    isPlain = blocking.length == targetCount;
    plainMembers = single.among(groups);
    bytes = heapBytes();
  }

  private long heapBytes() {
    long sum = HEAP_BYTES + HeapBytes.ofLongs(stamps.length) + HeapBytes.ofMap(plainMembers.size());
    sum += HeapBytes.ofSlots(byLoop.length) + HeapBytes.ofSlots(blocking.length);
    for (RouteTarget[] targets : byLoop) {
      sum += targets.length == 0 ? 0 : HeapBytes.ofSlots(targets.length);
    }
    sum += groups.bytes();
    sum += HeapBytes.ofMap(remotePlain.size()) + HeapBytes.ofMap(remoteGroups.size());
    for (List<RemoteBus> buses : remoteGroups.values()) {
      sum += 24 + HeapBytes.ofSlots(buses.size() + buses.size() / 2);
    }
    return sum;
  }

  /** Returns the route of a topic without subscribers; it takes part in no count. */
  static Route ofNobody(int loops) {
    Route nobody = new Route(loops, NO_STAMPS);
    nobody.shared = true;
    return nobody;
  }

  /** Returns the subscribers without a group: for each loop those that it owns, perhaps none. */
  public RouteTarget[][] byLoop() {
    return byLoop;
  }

  /** Returns the number of subscribers without a group. */
  public int targetCount() {
    return targetCount;
  }

  /** Returns the subscribers in {@link #byLoop} that publishers have to wait for. */
  public Subscriber[] blocking() {
    return blocking;
  }

  /** Returns the groups: one member of each gets each frame. */
  public RouteGroups groups() {
    return groups;
  }

  /** Returns the peers with subscribers without a group, and the strictest of their policies. */
  public Map<RemoteBus, Overflow> remotePlain() {
    return remotePlain;
  }

  /** Returns the groups with members at peers only: a member here comes first. */
  public Map<String, List<RemoteBus>> remoteGroups() {
    return remoteGroups;
  }

  /** Acquires the first holder's share. */
  void share() {
    shared = true;
    shares = 1;
  }

  /** Returns whether it is remembered; if not, its holder is alone with it, and uncounted. */
  public boolean isShared() {
    return shared;
  }

  /** Returns about the cost of delivering a frame of so many events here, in units of a target. */
  public int work(int events) {
    if (isPlain) {
      return targetCount + groups.size();
    }
    int work = groups.size();
    for (RouteTarget[] targets : byLoop) {
      for (RouteTarget target : targets) {
        work += target.work(events);
      }
    }
    return work;
  }

  boolean isEmpty() {
    return targetCount == 0 && groups.size() == 0;
  }

  public boolean leavesTheBus() {
    return !remotePlain.isEmpty() || !remoteGroups.isEmpty();
  }

  /**
   * Returns the policy of a group member for events that it gets without the group, too; null if it
   * gets none.
   */
  public @Nullable Overflow ungroupedOverflow(Subscriber member) {
    return plainMembers.isEmpty() ? null : plainMembers.get(member);
  }

  /** Collector of each subscriber once, with the strictest of its policies. */
  private static final class UniqueTargets {
    private final SubscriberSet subscribers;
    private final RouteTarget[] targets;

    UniqueTargets(int max) {
      subscribers = new SubscriberSet(max);
      targets = new RouteTarget[max];
    }

    void add(RouteTarget target) {
      int before = subscribers.add(target.subscriber());
      if (before < 0) {
        targets[subscribers.size() - 1] = target;
      } else if (RouteTarget.stricter(targets[before].overflow(), target.overflow())
          != targets[before].overflow()) {
        targets[before] = target;
      }
    }

    int size() {
      return subscribers.size();
    }

    /** Returns the policies of the subscribers that are also members of groups. */
    Map<Subscriber, Overflow> among(RouteGroups groups) {
      if (size() == 0 || groups.size() == 0) {
        return Map.of();
      }
      Map<Subscriber, Overflow> both = Map.of();
      for (int g = 0; g < groups.size(); g++) {
        for (int i = 0; i < groups.size(g); i++) {
          Subscriber member = groups.member(g, i).subscriber();
          int own = subscribers.find(member);
          if (own >= 0) {
            both = both.isEmpty() ? new HashMap<>() : both;
            both.put(member, targets[own].overflow());
          }
        }
      }
      return both;
    }

    RouteTarget[][] byLoop(int loops) {
      int[] counts = new int[loops];
      for (int i = 0; i < size(); i++) {
        counts[targets[i].subscriber().loop()]++;
      }
      RouteTarget[][] all = new RouteTarget[loops][];
      for (int i = 0; i < loops; i++) {
        all[i] = counts[i] == 0 ? NOBODY : new RouteTarget[counts[i]];
      }
      Arrays.fill(counts, 0);
      for (int i = 0; i < size(); i++) {
        int loop = targets[i].subscriber().loop();
        all[loop][counts[loop]++] = targets[i];
      }
      return all;
    }

    Subscriber[] blocking() {
      int count = 0;
      for (int i = 0; i < size(); i++) {
        count += targets[i].overflow() == Overflow.BLOCK ? 1 : 0;
      }
      if (count == 0) {
        return NO_SUBSCRIBERS;
      }
      Subscriber[] waits = new Subscriber[count];
      int at = 0;
      for (int i = 0; i < size(); i++) {
        if (targets[i].overflow() == Overflow.BLOCK) {
          waits[at++] = targets[i].subscriber();
        }
      }
      return waits;
    }
  }
}
