package io.eventbus.server.federation.tree;

import io.eventbus.schema.Overflow;
import io.eventbus.server.federation.lane.Gate;
import io.eventbus.server.federation.lane.Lane;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.LanePath;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.routing.RemoteBus;
import io.eventbus.server.routing.RemotePlan;
import io.eventbus.server.routing.Target;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How the frames of one topic leave this bus. Which bus passes frames on to which is chosen by
 * topic and producer, and so is the same for all frames of a producer as long as the plan holds.
 * Confined to one loop.
 */
final class TopicPlan implements RemotePlan {
  private final LaneLoop loop;
  private final int topicHash;
  private final List<Peer> ungrouped;
  // Those that others can be told to pass frames on to.
  private final Set<Peer> numbered;
  private final Map<Peer, Overflow> policies;
  private final Map<String, List<Peer>> groups;
  // For each rotation of the tree and each lane, made when it is first needed.
  private final Target[] @Nullable [] known;
  private final @Nullable Map<Peer, LanePath>[] paths;
  private final @Nullable List<Tree.Branch<Peer>>[] branches;
  private final int rotations;
  private final @Nullable Gate gate;

  TopicPlan(
      LaneLoop loop,
      String topic,
      Map<RemoteBus, Overflow> ungroupedBuses,
      Map<String, List<RemoteBus>> groupBuses,
      @Nullable RemotePlan before) {
    this.loop = loop;
    this.topicHash = topic.hashCode();
    this.policies = new LinkedHashMap<>();
    ungroupedBuses.forEach((bus, overflow) -> policies.put((Peer) bus, overflow));
    // Everywhere the same order.
    this.ungrouped = policies.keySet().stream().sorted(Comparator.comparing(Peer::id)).toList();
    this.numbered =
        ungrouped.stream()
            .filter(peer -> peer.registryNumber() > 0)
            .collect(Collectors.toCollection(LinkedHashSet::new));
    this.groups = new LinkedHashMap<>();
    groupBuses.forEach(
        (group, buses) ->
            groups.put(
                group,
                buses.stream()
                    .map(Peer.class::cast)
                    .sorted(Comparator.comparing(Peer::id))
                    .toList()));
    this.rotations = isFlat() ? 1 : ungrouped.size();
    this.known = new Target[rotations * loop.count()][];
    this.paths = newPaths(rotations * loop.count());
    this.branches = newBranches(rotations);
    this.gate = gate(before instanceof TopicPlan old ? old : null);
  }

  private @Nullable Gate gate(@Nullable TopicPlan old) {
    if (old == null) {
      // The producers may have come from another loop, or the plan was forgotten.
      return isFlat() ? null : loop.gateBehind(ungrouped);
    }
    Gate before = old.gate;
    if (before != null && !before.isOpen()) {
      // Nothing has gone by the old plan: what went before that one is what counts.
      return before;
    }
    boolean samePaths = ungrouped.equals(old.ungrouped) && numbered.equals(old.numbered);
    if (samePaths || (isFlat() && old.isFlat())) {
      return null;
    }
    // Every one of them is the first to some producer.
    Set<Peer> firsts = new LinkedHashSet<>(old.ungrouped);
    firsts.addAll(ungrouped);
    return loop.gateBehind(firsts);
  }

  // An array of a generic type cannot be made otherwise.
  @SuppressWarnings({"unchecked", "rawtypes"})
  private static @Nullable List<Tree.Branch<Peer>>[] newBranches(int size) {
    return new List[size];
  }

  // As above.
  @SuppressWarnings({"unchecked", "rawtypes"})
  private static @Nullable Map<Peer, LanePath>[] newPaths(int size) {
    return new Map[size];
  }

  private boolean isFlat() {
    return ungrouped.size() <= loop.config().fanout();
  }

  @Override
  public int loop(long producer) {
    return loop.lane(producer);
  }

  private int rotation(long producer) {
    return rotations == 1
        ? 0
        : (int) Math.floorMod(LaneLoop.mix(producer + topicHash) >>> 1, (long) rotations);
  }

  private Target[] base(long producer) {
    int lane = loop.lane(producer);
    int rotation = rotation(producer);
    int at = rotation * loop.count() + lane;
    Target[] targets = known[at];
    if (targets == null) {
      List<Tree.Branch<Peer>> tree = tree(rotation);
      targets = new Target[tree.size()];
      for (int i = 0; i < targets.length; i++) {
        targets[i] = target(tree.get(i), lane, Map.of());
      }
      known[at] = targets;
    }
    return targets;
  }

  private List<Tree.Branch<Peer>> tree(int rotation) {
    List<Tree.Branch<Peer>> tree = branches[rotation];
    if (tree == null) {
      if (isFlat()) {
        tree = Tree.split(ungrouped, loop.config().fanout(), rotation);
      } else {
        tree = new ArrayList<>(Tree.split(List.copyOf(numbered), loop.config().fanout(), rotation));
        for (Peer peer : ungrouped) {
          if (!numbered.contains(peer)) {
            tree.add(new Tree.Branch<>(peer, List.of()));
          }
        }
      }
      branches[rotation] = tree;
    }
    return tree;
  }

  private Target target(Tree.Branch<Peer> branch, int lane, Map<Peer, List<String>> picked) {
    Overflow strictest = policies.getOrDefault(branch.child(), Overflow.BLOCK);
    List<LanePath.Pick> picks = new ArrayList<>();
    for (Peer peer : branch.behind()) {
      strictest = Target.stricter(strictest, policies.getOrDefault(peer, Overflow.BLOCK));
      picked
          .getOrDefault(peer, List.of())
          .forEach(group -> picks.add(new LanePath.Pick(peer, group)));
    }
    List<String> groupsThere = picked.getOrDefault(branch.child(), List.of());
    boolean hasPicks = !picks.isEmpty() || !groupsThere.isEmpty();
    LanePath path =
        LanePath.of(
            branch.child().lane(lane),
            1,
            true,
            groupsThere,
            branch.behind(),
            picks,
            strictest,
            null);
    // A group's members are at their own bus: the policy there decides, the lane must not drop.
    return new Target(path, hasPicks ? Overflow.BLOCK : strictest);
  }

  @Override
  public Target[] targets(long producer, int roundRobin) {
    Target[] base = base(producer);
    if (groups.isEmpty()) {
      return base;
    }
    int lane = loop.lane(producer);
    Map<Peer, List<String>> picked = new LinkedHashMap<>();
    groups.forEach(
        (group, buses) ->
            picked
                .computeIfAbsent(pick(buses, roundRobin, producer), p -> new ArrayList<>())
                .add(group));
    List<Target> targets = new ArrayList<>();
    List<Tree.Branch<Peer>> tree = tree(rotation(producer));
    for (int i = 0; i < base.length; i++) {
      Tree.Branch<Peer> branch = tree.get(i);
      boolean concerned =
          picked.containsKey(branch.child())
              || branch.behind().stream().anyMatch(picked::containsKey);
      targets.add(concerned ? target(branch, lane, picked) : base[i]);
    }
    picked.forEach(
        (peer, names) -> {
          if (!policies.containsKey(peer)) {
            LanePath path =
                LanePath.of(
                    peer.lane(lane), 1, false, names, List.of(), List.of(), Overflow.BLOCK, null);
            targets.add(new Target(path, Overflow.BLOCK));
          }
        });
    return targets.toArray(new Target[0]);
  }

  /** In roundRobin, preferring those that take what they get. */
  private Peer pick(List<Peer> buses, int roundRobin, long producer) {
    int first = Math.floorMod(roundRobin, buses.size());
    Peer notFull = null;
    for (int i = 0; i < buses.size(); i++) {
      Peer peer = buses.get((first + i) % buses.size());
      Lane lane = laneTo(peer, producer);
      if (lane.isUp() && !lane.isCrowded()) {
        return peer;
      }
      if (notFull == null && !lane.isFull()) {
        notFull = peer;
      }
    }
    return notFull != null ? notFull : buses.get(first);
  }

  /**
   * The lane by which frames of a producer reach a bus now: its own, or in a tree that of the bus
   * that passes them on.
   */
  private Lane laneTo(Peer bus, long producer) {
    int lane = loop.lane(producer);
    LanePath path = isFlat() ? null : paths(producer).get(bus);
    return path == null ? bus.lane(lane) : path.laneTo(bus);
  }

  private Map<Peer, LanePath> paths(long producer) {
    int rotation = rotation(producer);
    int at = rotation * loop.count() + loop.lane(producer);
    Map<Peer, LanePath> found = paths[at];
    if (found == null) {
      found = new HashMap<>();
      for (Target target : base(producer)) {
        LanePath path = (LanePath) target.subscriber();
        found.put(path.child(), path);
        for (Peer behind : path.behind()) {
          found.put(behind, path);
        }
      }
      paths[at] = found;
    }
    return found;
  }

  @Override
  public boolean mustWait(long producer, Runnable retry) {
    Gate before = gate;
    if (before != null && before.mustWait(retry)) {
      return true;
    }
    for (Target target : base(producer)) {
      if (target.overflow() == Overflow.BLOCK && target.subscriber().isFull()) {
        target.subscriber().whenNotFull(retry);
        return true;
      }
    }
    if (groups.isEmpty()) {
      return false;
    }
    for (List<Peer> buses : groups.values()) {
      if (allFull(buses, producer)) {
        // Whichever has room first is the next to get a frame.
        buses.forEach(peer -> laneTo(peer, producer).whenNotFull(retry));
        return true;
      }
    }
    return false;
  }

  private boolean allFull(List<Peer> buses, long producer) {
    for (Peer peer : buses) {
      if (!laneTo(peer, producer).isFull()) {
        return false;
      }
    }
    return true;
  }
}
