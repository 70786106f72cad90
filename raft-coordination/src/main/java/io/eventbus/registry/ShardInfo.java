package io.eventbus.registry;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Placement of a shard: a group of replicas that holds journals of durable topics.
 *
 * <p>A bus that is DOWN or was removed stays named: its files may come back. Only a later {@link
 * ShardCommand.Place} takes a replica away.
 *
 * @param number the shard: 1 to {@link #MAX_SHARDS}
 * @param version the version of the registry that last changed the replicas
 * @param replicas the replicas in the order of the buses, at most one at each: 1 to {@link
 *     #MAX_REPLICAS}, of which 1, 3 or 5 are voters
 */
public record ShardInfo(int number, long version, List<ShardReplica> replicas) {
  /** Maximum number of shards. Buses with another limit could not read each other's commands. */
  public static final int MAX_SHARDS = 3;

  /** Maximum number of replicas of a shard. */
  public static final int MAX_REPLICAS = 64;

  private static final Set<Integer> VOTERS = Set.of(1, 3, 5);

  /**
   * Checks the values and sorts the replicas.
   *
   * @param number as above
   * @param version as above
   * @param replicas as above, in any order
   * @throws IllegalArgumentException if a value is illegal, saying which and why
   */
  public ShardInfo {
    checkNumber(number);
    RegistryChecks.range("version", version, 1, Long.MAX_VALUE);
    replicas = checked(replicas);
  }

  /**
   * Returns the voters.
   *
   * @return those of the replicas, in the same order
   */
  public List<ShardReplica> voters() {
    return replicas.stream().filter(ShardReplica::voter).toList();
  }

  static void checkNumber(int number) {
    RegistryChecks.range("number", number, 1, MAX_SHARDS);
  }

  /** Checks the replicas of a shard, and returns them in the order of the buses. */
  static List<ShardReplica> checked(List<ShardReplica> replicas) {
    RegistryChecks.range("replicas.size", replicas.size(), 1, MAX_REPLICAS);
    Set<BusId> buses = new HashSet<>();
    int voters = 0;
    for (ShardReplica replica : replicas) {
      if (!buses.add(replica.bus())) {
        throw RegistryChecks.illegal(
            "replicas", replica.bus().value(), "at most one replica at each bus");
      }
      voters += replica.voter() ? 1 : 0;
    }
    if (!VOTERS.contains(voters)) {
      throw new IllegalArgumentException("voters: " + voters + " (expected: 1, 3 or 5)");
    }
    return replicas.stream().sorted(Comparator.comparing(ShardReplica::bus)).toList();
  }
}
