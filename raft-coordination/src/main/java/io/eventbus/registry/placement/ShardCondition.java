package io.eventbus.registry.placement;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Condition of the replicas of a shard, as the bus that leads it knows them. Immutable.
 *
 * @param voters the replicas that vote now, which may not be those that the registry wants yet
 * @param caughtUp the replicas that have nearly everything that is committed
 * @param gone buses whose replicas are not waited for any longer: away for too long, or there
 *     without the files of the replica
 */
public record ShardCondition(Set<ReplicaId> voters, Set<ReplicaId> caughtUp, Set<BusId> gone) {
  /** Copies the sets. */
  public ShardCondition {
    voters = Set.copyOf(voters);
    caughtUp = Set.copyOf(caughtUp);
    gone = Set.copyOf(gone);
  }

  /**
   * Returns the buses with replicas that are DOWN for longer than a time. It is the registry's
   * time, which stands still while all buses are down: nobody is replaced because of that.
   */
  public static Set<BusId> away(RegistrySnapshot registry, ShardInfo shard, long afterMillis) {
    Set<BusId> away = new HashSet<>();
    for (ShardReplica replica : shard.replicas()) {
      BusInfo bus = registry.bus(replica.bus());
      if (bus != null
          && bus.state() == BusState.DOWN
          && registry.timeMillis() - bus.lease().expiresAtMillis() >= afterMillis) {
        away.add(bus.id());
      }
    }
    return away;
  }

  /** Returns whether those vote that the registry wants. */
  boolean isSettled(ShardInfo shard) {
    return voters.equals(
        shard.voters().stream().map(ReplicaId::of).collect(Collectors.toUnmodifiableSet()));
  }
}
