package io.eventbus.registry.placement;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ShardCommand;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Placement of the replicas of a shard. Pure; any thread may use it.
 *
 * <p>A bus is chosen while it is {@link BusState#UP} and has a data directory.
 *
 * <ul>
 *   <li>A new shard gets three voters, at buses of as many zones as there are. Where fewer than
 *       three buses have data directories, those that are not UP included, it gets one: two would
 *       only make it fail more often. All others listen.
 *   <li>An existing shard gets listeners at the buses that are new. A listener whose bus has lost
 *       its files goes on with the next generation. It ends if its bus was removed, or is UP
 *       without a data directory; while its bus is away, it stays.
 *   <li>Votes move only with knowledge of what the replicas have on their disks, to those that have
 *       caught up: to two more as soon as three could vote, and away from a bus that was removed,
 *       has lost its files, or is away for too long. A vote for which there is no such replica
 *       stays where it is.
 * </ul>
 */
public final class ShardPlacement {
  private static final int VOTERS = 3;

  private ShardPlacement() {}

  /**
   * Returns the next change of a shard.
   *
   * @param number the shard: 1 to {@link ShardInfo#MAX_SHARDS}
   * @return a command that the state machine accepts in that snapshot; null if everything is as it
   *     should be, or a new shard has to wait for buses
   */
  public static ShardCommand.@Nullable Place next(RegistrySnapshot registry, int number) {
    ShardInfo shard = registry.shard(number);
    return shard == null ? first(registry, number) : changed(registry, shard);
  }

  /**
   * Returns the next change of a shard that is placed, its votes included.
   *
   * @return a command that the state machine accepts in that snapshot; null if everything is as it
   *     should be, or has to wait
   */
  public static ShardCommand.@Nullable Place next(
      RegistrySnapshot registry, ShardInfo shard, ShardCondition condition) {
    ShardCommand.Place listeners = changed(registry, shard);
    return listeners != null ? listeners : new VotePlacement(registry, shard, condition).next();
  }

  /**
   * Returns the next step to move the vote of a bus to another one. It is done when the bus votes
   * no more.
   *
   * @param leaves whether the bus is to leave for good: then so many replicas have to be left that
   *     have caught up as there are votes
   */
  public static PlacementStep moveVote(
      RegistrySnapshot registry,
      ShardInfo shard,
      ShardCondition condition,
      BusId bus,
      boolean leaves) {
    VotePlacement votes = new VotePlacement(registry, shard, condition);
    ShardReplica replica = find(shard, bus);
    if (replica == null) {
      return condition.voters().stream().anyMatch(voter -> voter.bus().equals(bus))
          ? PlacementStep.waiting("bus " + bus + " still votes")
          : leaves
              ? PlacementStep.DONE
              : PlacementStep.refused("bus " + bus + " has no replica of the journals");
    }
    if (!condition.isSettled(shard)) {
      return PlacementStep.waiting("a vote is on its way to another bus");
    }
    long left = votes.caughtUpElsewhere(bus);
    if (leaves && isLast(registry, bus)) {
      return PlacementStep.DONE;
    }
    if (leaves && left < shard.voters().size()) {
      return PlacementStep.refused(
          "without bus "
              + bus
              + " the journals have "
              + left
              + " replicas that are UP and have caught up (expected: at least "
              + shard.voters().size()
              + ", so that as many vote as now)");
    }
    if (!replica.voter()) {
      return PlacementStep.DONE;
    }
    ShardCommand.Place moved = votes.moved(replica);
    return moved == null
        ? PlacementStep.refused(
            "no other bus can take the vote of bus "
                + bus
                + " (expected: a bus that does not vote, is UP, and has a replica that has caught"
                + " up)")
        : PlacementStep.submit(moved);
  }

  /**
   * Returns the next step to take the replica of a bus away, its vote first. It is done when the
   * registry names it no more.
   */
  public static PlacementStep remove(
      RegistrySnapshot registry, ShardInfo shard, ShardCondition condition, BusId bus) {
    PlacementStep vote = moveVote(registry, shard, condition, bus, true);
    ShardReplica replica = find(shard, bus);
    if (!vote.done() || replica == null || isLast(registry, bus)) {
      return vote;
    }
    BusInfo info = registry.bus(bus);
    if (info != null && info.state() == BusState.UP) {
      return PlacementStep.waiting(
          "bus " + bus + " is UP (expected: that it drains, so that no client needs its replica)");
    }
    List<ShardReplica> left = new ArrayList<>(shard.replicas());
    left.remove(replica);
    return PlacementStep.submit(new ShardCommand.Place(shard.number(), shard.version(), left));
  }

  /** Returns whether there is no other bus, not even one that is DOWN and may come back. */
  private static boolean isLast(RegistrySnapshot registry, BusId bus) {
    return registry.buses().stream().allMatch(other -> other.id().equals(bus));
  }

  private static @Nullable ShardReplica find(ShardInfo shard, BusId bus) {
    return shard.replicas().stream()
        .filter(replica -> replica.bus().equals(bus))
        .findFirst()
        .orElse(null);
  }

  private static ShardCommand.@Nullable Place first(RegistrySnapshot registry, int number) {
    List<BusInfo> present =
        registry.buses().stream().filter(ShardPlacement::canHoldReplica).toList();
    long all = registry.buses().stream().filter(bus -> bus.description().storage() > 0).count();
    int voters = all < VOTERS ? 1 : VOTERS;
    if (present.size() < voters) {
      return null;
    }
    Map<BusId, ShardReplica> replicas = new TreeMap<>();
    for (BusInfo bus : spread(present, voters)) {
      replicas.put(bus.id(), new ShardReplica(bus.id(), bus.description().storage(), true));
    }
    addListeners(replicas, present);
    return new ShardCommand.Place(number, 0, List.copyOf(replicas.values()));
  }

  /** Returns that many buses: each the first by its id in a zone with the fewest so far. */
  private static List<BusInfo> spread(List<BusInfo> buses, int count) {
    List<BusInfo> left = new ArrayList<>(buses);
    List<BusInfo> chosen = new ArrayList<>(count);
    Map<String, Integer> inZone = new HashMap<>();
    while (chosen.size() < count) {
      BusInfo next =
          left.stream()
              .min(
                  Comparator.comparing(
                          (BusInfo bus) -> inZone.getOrDefault(bus.description().zone(), 0))
                      .thenComparing(BusInfo::id))
              .orElseThrow();
      left.remove(next);
      chosen.add(next);
      inZone.merge(next.description().zone(), 1, Integer::sum);
    }
    return chosen;
  }

  private static ShardCommand.@Nullable Place changed(RegistrySnapshot registry, ShardInfo shard) {
    Map<BusId, ShardReplica> replicas = new TreeMap<>();
    for (ShardReplica replica : shard.replicas()) {
      ShardReplica wanted =
          replica.voter() ? replica : listener(registry.bus(replica.bus()), replica);
      if (wanted != null) {
        replicas.put(wanted.bus(), wanted);
      }
    }
    addListeners(
        replicas, registry.buses().stream().filter(ShardPlacement::canHoldReplica).toList());
    List<ShardReplica> wanted = List.copyOf(replicas.values());
    return wanted.equals(shard.replicas())
        ? null
        : new ShardCommand.Place(shard.number(), shard.version(), wanted);
  }

  /** Returns what becomes of a listener; null if it ends. */
  private static @Nullable ShardReplica listener(@Nullable BusInfo bus, ShardReplica present) {
    if (bus == null) {
      return null;
    }
    if (bus.state() != BusState.UP) {
      return present;
    }
    int storage = bus.description().storage();
    return storage == 0 ? null : new ShardReplica(bus.id(), storage, false);
  }

  private static void addListeners(Map<BusId, ShardReplica> replicas, List<BusInfo> buses) {
    for (BusInfo bus : buses) {
      if (replicas.size() < ShardInfo.MAX_REPLICAS) {
        replicas.putIfAbsent(
            bus.id(), new ShardReplica(bus.id(), bus.description().storage(), false));
      }
    }
  }

  private static boolean canHoldReplica(BusInfo bus) {
    return bus.state() == BusState.UP && bus.description().storage() > 0;
  }
}
