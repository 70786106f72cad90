package io.eventbus.registry.placement;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Members of the Raft group of a shard. Pure.
 *
 * @param voters the replicas that vote
 * @param listeners the replicas that only follow
 */
public record GroupMembers(Set<ReplicaId> voters, Set<ReplicaId> listeners) {
  /** Copies the sets. */
  public GroupMembers {
    voters = Set.copyOf(voters);
    listeners = Set.copyOf(listeners);
  }

  /**
   * Returns the next members on the way to what the registry wants; these if nothing is to be done,
   * or has to wait.
   *
   * <p>A step changes one vote, or listeners, and first gives votes, then takes them. No replica is
   * added whose bus is not there: the group would wait for it.
   *
   * @param guests replicas that ask to follow, before the registry names them
   */
  public GroupMembers next(RegistrySnapshot registry, ShardInfo shard, Set<ReplicaId> guests) {
    Set<ReplicaId> wanted =
        shard.voters().stream().map(ReplicaId::of).collect(Collectors.toUnmodifiableSet());
    Set<ReplicaId> present = new HashSet<>(guests);
    for (BusInfo bus : registry.buses()) {
      if (bus.state() == BusState.UP && bus.description().storage() > 0) {
        present.add(new ReplicaId(bus.id(), bus.description().storage()));
      }
    }
    for (ReplicaId voter : wanted) {
      if (!voters.contains(voter) && listeners.contains(voter) && present.contains(voter)) {
        return new GroupMembers(with(voters, voter), without(listeners, voter));
      }
    }
    if (voters.containsAll(wanted)) {
      for (ReplicaId voter : voters) {
        if (!wanted.contains(voter)) {
          return new GroupMembers(without(voters, voter), listeners);
        }
      }
    }
    return new GroupMembers(voters, follow(shard, present));
  }

  /** Returns who is to listen: who is there, and members that are named and may come back. */
  private Set<ReplicaId> follow(ShardInfo shard, Set<ReplicaId> present) {
    Set<ReplicaId> follow = new HashSet<>(present);
    for (ShardReplica replica : shard.replicas()) {
      ReplicaId id = ReplicaId.of(replica);
      if (listeners.contains(id)) {
        follow.add(id);
      }
    }
    follow.removeAll(voters);
    return follow;
  }

  private static Set<ReplicaId> with(Set<ReplicaId> members, ReplicaId member) {
    Set<ReplicaId> more = new HashSet<>(members);
    more.add(member);
    return more;
  }

  private static Set<ReplicaId> without(Set<ReplicaId> members, ReplicaId member) {
    Set<ReplicaId> fewer = new HashSet<>(members);
    fewer.remove(member);
    return fewer;
  }
}
