package io.eventbus.server.federation.tree;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.RouteTarget;
import io.eventbus.server.federation.lane.Lane;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.LanePath;
import io.eventbus.server.federation.lane.OneShotLatch;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.routing.RemotePlan;
import io.eventbus.server.subscription.RemoteBus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Plan for the frames of one topic that leave this bus. The relays are chosen by topic and
 * producer, and so are the same for all frames of a producer as long as the plan is valid. Confined
 * to one loop.
 */
final class TopicPlan implements RemotePlan {
  /** Heap bytes of the object. */
  private static final int OWN_BYTES = 48;

  /** Closed latch, with the task that opens it. */
  private static final int LATCH_BYTES = 240;

  /** Map of groups; a group in it, without its name; and a bus of it. */
  private static final int GROUPS_BYTES = 136;

  private static final int GROUP_BYTES = 104;

  private static final int MEMBER_BYTES = 4;

  private final LaneLoop loop;
  private final TreeTable table;
  private final BusTrees trees;
  private final int topicHash;
  private final Map<String, List<Peer>> groups;
  private final int ownBytes;
  private @Nullable OneShotLatch latch;
  private int reached;

  TopicPlan(
      LaneLoop loop,
      TreeTable table,
      String account,
      String topic,
      Map<RemoteBus, Overflow> ungroupedBuses,
      Map<String, List<RemoteBus>> groupBuses,
      @Nullable RemotePlan before) {
    this.loop = loop;
    this.table = table;
    this.topicHash = topic.hashCode();
    this.trees = table.acquire(account, ungroupedBuses);
    this.groups = groupBuses.isEmpty() ? Map.of() : sorted(groupBuses);
    this.ownBytes = OWN_BYTES + bytesOf(groups);
    this.latch = latch(before instanceof TopicPlan old ? old : null);
  }

  private static Map<String, List<Peer>> sorted(Map<String, List<RemoteBus>> groupBuses) {
    Map<String, List<Peer>> groups = new LinkedHashMap<>();
    groupBuses.forEach(
        (group, buses) ->
            groups.put(
                group,
                buses.stream()
                    .map(Peer.class::cast)
                    .sorted(Comparator.comparing(Peer::id))
                    .toList()));
    return groups;
  }

  private @Nullable OneShotLatch latch(@Nullable TopicPlan old) {
    if (old == null) {
      // The producers may have come from another loop, or the plan was forgotten.
      return trees.isFlat() ? null : loop.latchAfter(trees.buses());
    }
    OneShotLatch before = old.latch;
    if (before != null && !before.isOpen()) {
      // Nothing has used the old plan: the frames before that one count.
      return before;
    }
    if (trees.hasPathsOf(old.trees) || (trees.isFlat() && old.trees.isFlat())) {
      return null;
    }
    // Every bus is the first for some producer.
    Set<Peer> firsts = new LinkedHashSet<>(old.trees.buses());
    firsts.addAll(trees.buses());
    return loop.latchAfter(firsts);
  }

  @Override
  public int loop(long producer) {
    return loop.lane(producer);
  }

  private int rotation(long producer) {
    return trees.rotation(producer, topicHash);
  }

  private RouteTarget[] base(long producer) {
    return trees.targets(rotation(producer), loop.lane(producer));
  }

  @Override
  public RouteTarget[] targets(long producer, int roundRobin) {
    RouteTarget[] base = base(producer);
    reached = trees.buses().size();
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
    List<RouteTarget> targets = new ArrayList<>();
    List<Tree.Branch<Peer>> tree = trees.tree(rotation(producer));
    for (int i = 0; i < base.length; i++) {
      Tree.Branch<Peer> branch = tree.get(i);
      boolean concerned =
          picked.containsKey(branch.child())
              || branch.behind().stream().anyMatch(picked::containsKey);
      targets.add(concerned ? trees.target(branch, lane, picked) : base[i]);
    }
    picked.forEach(
        (peer, names) -> {
          if (!trees.contains(peer)) {
            reached++;
            LanePath path =
                LanePath.of(
                    peer.lane(lane),
                    trees.key.account(),
                    1,
                    false,
                    names,
                    List.of(),
                    List.of(),
                    Overflow.BLOCK,
                    null);
            targets.add(new RouteTarget(path, Overflow.BLOCK));
          }
        });
    return targets.toArray(new RouteTarget[0]);
  }

  @Override
  public int reached() {
    return reached;
  }

  /** Picks the next bus in turn, preferring one whose lane is up and not half full. */
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
   * Returns the lane by which frames of a producer reach a bus now: its own, or in a tree that of
   * the relay.
   */
  private Lane laneTo(Peer bus, long producer) {
    int lane = loop.lane(producer);
    LanePath path = trees.isFlat() ? null : trees.paths(rotation(producer), lane).get(bus);
    return path == null ? bus.lane(lane) : path.laneTo(bus);
  }

  @Override
  public boolean mustWait(long producer, Runnable retry) {
    OneShotLatch before = latch;
    if (before != null) {
      if (before.mustWait(retry)) {
        return true;
      }
      latch = null;
    }
    for (RouteTarget target : base(producer)) {
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
        // The first one with room is the next to get a frame.
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

  @Override
  public long heapBytes() {
    return ownBytes + trees.bytes() / trees.shares + (latch == null ? 0 : LATCH_BYTES);
  }

  private static int bytesOf(Map<String, List<Peer>> groups) {
    int bytes = groups.isEmpty() ? 0 : GROUPS_BYTES;
    for (List<Peer> members : groups.values()) {
      bytes += GROUP_BYTES + MEMBER_BYTES * members.size();
    }
    return bytes;
  }

  @Override
  public void close() {
    table.release(trees);
  }
}
