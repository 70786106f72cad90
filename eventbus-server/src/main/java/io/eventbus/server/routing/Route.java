package io.eventbus.server.routing;

import io.eventbus.schema.Overflow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Who gets the events of one topic, as of one version of the index. Immutable. */
final class Route {
  private static final Target[] NOBODY = {};

  /**
   * What the index was like when the route was made, and where to look whether it still is; see
   * {@link SubscriptionIndex}.
   *
   * @param stripe where plain filters like the topic are counted
   * @param exact that count
   * @param firstTokenStripe where filters with wildcards behind a first token like the topic's are
   *     counted
   * @param firstToken that count
   * @param wildcard the count of filters with a wildcard as their first token
   */
  record Version(int stripe, long exact, int firstTokenStripe, long firstToken, long wildcard) {}

  final Version version;

  /** The subscribers without a group: for each loop those that it owns, perhaps none. */
  final Target[][] byLoop;

  final int targetCount;

  /** Those of {@link #byLoop} that publishers have to wait for. */
  final Subscriber[] blocking;

  /** For each group its members; one of them gets each frame. */
  final Subscription[][] groups;

  /** Other buses with subscribers without a group, and the strictest of their policies. */
  final Map<RemoteBus, Overflow> remotePlain;

  /** Groups with members at other buses only: a member here comes first. */
  final Map<String, List<RemoteBus>> remoteGroups;

  private final Map<Subscriber, Overflow> plain;

  Route(Version version, int loops, Iterable<Subscription> matching) {
    this.version = version;

    Map<Subscriber, Overflow> single = new LinkedHashMap<>();
    Map<String, Map<Subscriber, Subscription>> grouped = new LinkedHashMap<>();
    Map<RemoteBus, Overflow> far = Map.of();
    Map<String, List<RemoteBus>> farGroups = Map.of();
    for (Subscription s : matching) {
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
        single.merge(s.subscriber(), s.overflow(), Target::stricter);
      } else {
        grouped.computeIfAbsent(group, g -> new LinkedHashMap<>()).putIfAbsent(s.subscriber(), s);
      }
    }
    farGroups.keySet().removeAll(grouped.keySet());
    remotePlain = far;
    remoteGroups = farGroups;
    List<List<Target>> lists = new ArrayList<>();
    for (int i = 0; i < loops; i++) {
      lists.add(new ArrayList<>());
    }
    List<Subscriber> waits = new ArrayList<>();
    single.forEach(
        (subscriber, overflow) -> {
          lists.get(subscriber.loop()).add(new Target(subscriber, overflow));
          if (overflow == Overflow.BLOCK) {
            waits.add(subscriber);
          }
        });
    byLoop = new Target[loops][];
    for (int i = 0; i < loops; i++) {
      byLoop[i] = lists.get(i).isEmpty() ? NOBODY : lists.get(i).toArray(NOBODY);
    }
    targetCount = single.size();
    blocking = waits.toArray(new Subscriber[0]);
    groups =
        grouped.values().stream()
            .map(members -> members.values().toArray(new Subscription[0]))
            .toArray(Subscription[][]::new);
    // Only needed to find out whether a member of a group is also here on its own account.
    plain = groups.length == 0 ? Map.of() : single;
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

  /** The policy of a subscriber that gets the events on its own account; null when it does not. */
  @Nullable Overflow plainOverflow(Subscriber subscriber) {
    return plain.get(subscriber);
  }
}
