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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Placement of the votes of a shard. Pure.
 *
 * <p>A vote goes only to a replica that has caught up, at a bus that is {@link BusState#UP}; of
 * several to the one in the zone with the fewest votes. One vote moves at a time: while others vote
 * than the registry wants, only a vote that has not reached its bus may go to another one.
 */
final class VotePlacement {
  private final RegistrySnapshot registry;
  private final ShardInfo shard;
  private final ShardCondition condition;

  VotePlacement(RegistrySnapshot registry, ShardInfo shard, ShardCondition condition) {
    this.registry = registry;
    this.shard = shard;
    this.condition = condition;
  }

  /** Returns the next change of votes; null if there is none, or it has to wait. */
  ShardCommand.@Nullable Place next() {
    boolean settled = condition.isSettled(shard);
    List<ShardReplica> voters = shard.voters();
    if (settled && voters.size() == 1) {
      return grown(voters.get(0));
    }
    for (ShardReplica voter : voters) {
      boolean lost =
          settled
              ? isGone(voter)
              : !condition.voters().contains(ReplicaId.of(voter)) && !isPresent(voter);
      ShardCommand.Place moved = lost ? moved(voter) : null;
      if (moved != null) {
        return moved;
      }
    }
    return null;
  }

  /** Returns the change from one vote to three; null if there are not enough replicas. */
  private ShardCommand.@Nullable Place grown(ShardReplica voter) {
    if (isGone(voter)) {
      // The leader is the voter: it is there, whatever the registry says.
      return null;
    }
    ShardReplica second = candidate(List.of(voter), voter.bus(), false);
    ShardReplica third =
        second == null ? null : candidate(List.of(voter, second), voter.bus(), false);
    if (second == null || third == null) {
      return null;
    }
    Map<BusId, ShardReplica> replicas = replicas();
    replicas.put(second.bus(), second);
    replicas.put(third.bus(), third);
    return place(replicas);
  }

  /** Returns the move of a vote to another replica; null if there is none for it. */
  ShardCommand.@Nullable Place moved(ShardReplica voter) {
    List<ShardReplica> others =
        shard.voters().stream().filter(each -> !each.equals(voter)).toList();
    ShardReplica next = candidate(others, voter.bus(), true);
    if (next == null) {
      return null;
    }
    List<ShardReplica> after = Stream.concat(others.stream(), Stream.of(next)).toList();
    if (after.stream().filter(this::hasCaughtUp).count() <= after.size() / 2) {
      // Nothing would be committed until one more of them has caught up.
      return null;
    }
    Map<BusId, ShardReplica> replicas = replicas();
    replicas.remove(voter.bus());
    BusInfo bus = registry.bus(voter.bus());
    if (bus != null && bus.description().storage() > 0) {
      // Perhaps with other files than those with which it voted.
      replicas.put(bus.id(), new ShardReplica(bus.id(), bus.description().storage(), false));
    }
    replicas.put(next.bus(), next);
    return place(replicas);
  }

  /** Returns the number of replicas at other buses than this one that could vote. */
  long caughtUpElsewhere(BusId bus) {
    return shard.replicas().stream()
        .filter(replica -> !replica.bus().equals(bus))
        .filter(this::isPresent)
        .filter(this::hasCaughtUp)
        .count();
  }

  /**
   * Returns the replica that gets a vote, as a voter.
   *
   * @param others the other voters
   * @param from the bus whose vote it is
   * @param again whether that bus may get it with other files
   */
  private @Nullable ShardReplica candidate(List<ShardReplica> others, BusId from, boolean again) {
    Map<String, Integer> inZone = new HashMap<>();
    others.forEach(voter -> inZone.merge(zone(voter), 1, Integer::sum));
    List<ShardReplica> fit = new ArrayList<>();
    for (ShardReplica replica : shard.replicas()) {
      boolean votes = others.stream().anyMatch(voter -> voter.bus().equals(replica.bus()));
      if (!votes && !replica.voter() && !replica.bus().equals(from)) {
        fit.add(new ShardReplica(replica.bus(), replica.generation(), true));
      }
    }
    BusInfo bus = registry.bus(from);
    if (again && bus != null && bus.description().storage() > 0) {
      ShardReplica anew = new ShardReplica(from, bus.description().storage(), true);
      if (!shard.voters().contains(anew)) {
        fit.add(anew);
      }
    }
    return fit.stream()
        .filter(this::isPresent)
        .filter(this::hasCaughtUp)
        .min(
            Comparator.comparing(
                    (ShardReplica each) -> !condition.voters().contains(ReplicaId.of(each)))
                .thenComparing(each -> inZone.getOrDefault(zone(each), 0))
                .thenComparing(ShardReplica::bus))
        .orElse(null);
  }

  private String zone(ShardReplica replica) {
    BusInfo bus = registry.bus(replica.bus());
    return bus == null ? "" : bus.description().zone();
  }

  private boolean isGone(ShardReplica replica) {
    BusInfo bus = registry.bus(replica.bus());
    return bus == null
        || bus.description().storage() != replica.generation()
        || (bus.state() == BusState.DOWN && condition.gone().contains(bus.id()));
  }

  /** Returns whether the bus of a replica is UP, with the files of the replica. */
  boolean isPresent(ShardReplica replica) {
    BusInfo bus = registry.bus(replica.bus());
    return bus != null
        && bus.state() == BusState.UP
        && bus.description().storage() == replica.generation();
  }

  private boolean hasCaughtUp(ShardReplica replica) {
    return condition.caughtUp().contains(ReplicaId.of(replica));
  }

  private Map<BusId, ShardReplica> replicas() {
    Map<BusId, ShardReplica> replicas = new TreeMap<>();
    shard.replicas().forEach(replica -> replicas.put(replica.bus(), replica));
    return replicas;
  }

  private ShardCommand.Place place(Map<BusId, ShardReplica> replicas) {
    return new ShardCommand.Place(shard.number(), shard.version(), List.copyOf(replicas.values()));
  }
}
